import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Type-aware rules: a floating promise in a controller is a lost error. */
export default tseslint.config(
  {
    ignores: [
      'dist/**',
      '.muster/**',
      'node_modules/**',
      'test/consumers/**',
      'examples/gitops-imported/**', // what it imports is generated on use
      'coverage/**',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      complexity: ['error', 18],
      'max-depth': ['error', 4],
      eqeqeq: ['error', 'smart'],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
    },
  },
  { files: ['eslint.config.js', '**/*.config.ts'], rules: { 'no-restricted-exports': 'off' } },
  { files: ['**/*.test.ts'], rules: { complexity: 'off' } },
);
