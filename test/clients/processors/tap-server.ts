import { startTapServer as start } from '../../../src/demo/stand-ins/tap.ts'
import { watched } from './stand-in.ts'

export { tapKeys } from '../../../src/demo/stand-ins/tap.ts'
export const startTapServer = (options: Parameters<typeof start>[0] = {}) => watched((watch) => start({ ...options, watch }))
