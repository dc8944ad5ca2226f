/** The nodes of chains. viem is loaded with the first query, so an instance without `CHAINS` never loads it. */
import type { ChainNode } from '../../core/chain.ts'
import type { NodeSettings } from './client.ts'

/** Creates a node without connecting to it. */
export function createNode(settings: NodeSettings): ChainNode {
  let asking: Promise<ChainNode['ask']> | undefined
  return {
    host: new URL(settings.url).host,
    async ask(question, scheduler) {
      asking ??= import('./reader.ts').then(({ createReader }) => createReader(settings))
      return (await asking)(question, scheduler)
    },
  }
}
