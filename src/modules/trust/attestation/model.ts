import { t } from 'elysia'
import { Instant, integer, nullable, oneOf } from '../../../http/schema.ts'

const Time = nullable(Instant)
const block = nullable(integer({ minimum: 0 }))

const status = {
  chainId: integer(),
  contract: t.String(),
  startBlock: integer({ minimum: 0 }),
  countedTo: integer({ description: 'The last block whose attestations are counted.' }),
  countedToHash: nullable(t.String()),
  countedToAt: Time,
  head: block,
  target: block,
  lag: nullable(integer({ minimum: 0, description: 'Blocks between what is counted and the newest that is known.' })),
  provider: nullable(t.String({ description: 'The host of the node that was asked last.' })),
  syncedAt: Time,
  lastError: nullable(t.String()),
  lastErrorAt: Time,
  haltedBecause: nullable(t.String({ description: 'Why nothing more is counted of it until somebody sees to it.' })),
  haltedAt: Time,
  rescan: t.Object({
    beganAt: Time,
    readTo: block,
    isUnderWay: t.Boolean(),
    missing: nullable(integer({ minimum: 0 })),
    unknown: nullable(integer({ minimum: 0 })),
  }),
  backfills: integer({ minimum: 0, description: 'Readings anew that wait.' }),
}

/** A chain with stored data. */
export const ChainRecord = t.Object(status, { title: 'ChainStatus' })

const ChainNode = t.Object(
  {
    host: t.String({ description: 'Of its URL, whose rest may hold a key' }),
    inUse: t.Boolean({ description: 'Whether it answered last' }),
    state: oneOf(['ready', 'resting', 'failing'], {
      description: '`resting`: it asked for that, was behind or on another fork. `failing`: it is asked again now and then, to see.',
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
          countedTo: nullable(
            integer({ description: 'The last block whose attestations are counted; null of a chain of which nothing was read yet.' }),
          ),
          target: nullable(integer({ minimum: 0, description: 'The block up to which may be counted: the last one that is final.' })),
          isConfigured: t.Boolean({ description: 'Whether `CHAINS` names it; of others nothing more is read.' }),
          nodes: t.Array(ChainNode, { description: 'As the process that answers knows them' }),
        },
        { title: 'Chain' },
      ),
    ),
  },
  { title: 'Chains' },
)
