export type { AgentCatalogDeps } from './providers.ts'
export { getProduct, lookupCatalog, searchCatalog } from './service.ts'
