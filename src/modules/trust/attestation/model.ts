import { t } from 'elysia'
import { Instant, integer, nullable, oneOf } from '../../../http/schema.ts'

const Time = nullable(Instant)
const block = nullable(integer({ minimum: 0 }))

const status = {
  chainId: integer(),
  contract: t.String(),
  startBlock: integer({ minimum: 0 }),
  countedTo: integer({ description: 'The last block whose attestations are counted' }),
  countedToHash: nullable(t.String()),
  countedToAt: Time,
  head: block,
  target: block,
  lag: nullable(integer({ minimum: 0, description: 'Number of blocks between it and the newest known block' })),
  provider: nullable(t.String({ description: 'Host of the node that was last asked' })),
  syncedAt: Time,
  lastError: nullable(t.String()),
  lastErrorAt: Time,
  haltedBecause: nullable(t.String({ description: 'Why counting stopped until an operator acts' })),
  haltedAt: Time,
  rescan: t.Object({
    beganAt: Time,
    readTo: block,
    isUnderWay: t.Boolean(),
    missing: nullable(integer({ minimum: 0 })),
    unknown: nullable(integer({ minimum: 0 })),
  }),
  backfills: integer({ minimum: 0, description: 'Number of pending rereads' }),
}

/** A chain with stored data. */
export const ChainRecord = t.Object(status, { title: 'ChainStatus' })

const ChainNode = t.Object(
  {
    host: t.String({ description: 'Host of its URL. The rest may contain a key' }),
    inUse: t.Boolean({ description: 'Whether it responded last' }),
    state: oneOf(['ready', 'resting', 'failing'], {
      description: '`resting`: it asked for a pause, was behind or was on another fork. `failing`: it is retried now and then',
    }),
    restsUntil: Time,
    failures: integer({ minimum: 0, description: 'In a row' }),
  },
  { title: 'ChainNode' },
)

export const Chains = t.Object(
  {
    data: t.Array(
      t.Object(
        {
          ...status,
          countedTo: nullable(integer({ description: 'The last block whose attestations are counted. Null if nothing was read yet' })),
          target: nullable(integer({ minimum: 0, description: 'The last final block. Blocks up to it can be counted' })),
          isConfigured: t.Boolean({ description: 'Whether `CHAINS` contains the chain. Other chains are no longer read' }),
          nodes: t.Array(ChainNode, { description: 'As known to the responding process' }),
        },
        { title: 'Chain' },
      ),
    ),
  },
  { title: 'Chains' },
)
