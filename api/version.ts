/** Version of this package; a test holds it equal to package.json, which a bundle cannot read. */
export const version = '0.1.0';
