export { type OrderLinks, orderPagePath } from './links.ts'
export type { OrderLinkDeps } from './parts.ts'
