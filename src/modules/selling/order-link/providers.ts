import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'
import { createOrderLinks } from './links.ts'

export const orderLinkProviders = (deps: InstanceKeyDeps) => ({ orderLinks: createOrderLinks(deps) })
export type OrderLinkDeps = InstanceKeyDeps & ReturnType<typeof orderLinkProviders>
