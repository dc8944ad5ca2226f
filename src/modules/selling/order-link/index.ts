export { type OrderLinks, orderPagePath, payPagePath } from './links.ts'
export type { OrderLinkDeps } from './providers.ts'
