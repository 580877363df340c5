/** What Argo CD, Flux and kustomize need beside the manifests. */
export { argoCdAnnotations, argoCdOrder, orderedForArgoCd, orderForArgoCd } from './argo-cd.ts';
export { fluxFolders, fluxKustomizations, type FluxFolder, type FluxOptions } from './flux.ts';
export { kustomization, kustomizationFile, kustomizationFiles } from './kustomize.ts';
