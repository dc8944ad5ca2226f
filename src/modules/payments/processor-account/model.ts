import { t } from 'elysia'
import { processors } from '../../../clients/processors/index.ts'
import { Instant, oneOf, text } from '../../../http/schema.ts'
import { processorNames } from '../../../lib/processors.ts'

const modes = ['TEST', 'LIVE'] as const
const token = { minLength: 1, pattern: '^[\\x21-\\x7e]+$', rule: 'characters of ASCII without spaces' }
/** Base64 output; the value may contain anything. */
const anyText = { minLength: 1, pattern: '^[^\\u0000-\\u001f\\u007f]+$', rule: 'no control characters' }

/** Builds the schema of a field from all processors that have it. */
function fieldSchema(name: string) {
  const owners = processorNames.flatMap((processor) => {
    const field = processors[processor].fields[name]
    return field ? [{ ...field, processor }] : []
  })
  const isSecret = owners.every(({ isPublic }) => !isPublic)
  const meanings = Map.groupBy(owners, ({ description: meaning }) => meaning)
  const texts = [...meanings].map(([meaning, of]) => `${of.map(({ processor }) => `\`${processor}\``).join(', ')}: ${meaning}`)
  const description = `${isSecret ? 'Secret; ' : ''}${texts.join('; ')}${name === 'apiUrl' ? '. A public https address' : ''}`
  return t.Optional(text(300, { ...(owners.some(({ isText }) => isText) ? anyText : token), description }))
}
const fieldNames = [...new Set(processorNames.flatMap((processor) => Object.keys(processors[processor].fields)))]

/** Fields of all processors; the service checks which ones apply. */
export const PutProcessorAccount = t.Object(
  {
    ...(Object.fromEntries(fieldNames.map((name) => [name, fieldSchema(name)])) as Record<string, ReturnType<typeof fieldSchema>>),
    mode: t.Optional(oneOf(modes, { description: 'Where keys and host do not say it; default that of the shop' })),
  },
  { title: 'PutProcessorAccount' },
)

export const ProcessorAccount = t.Object(
  {
    processor: oneOf(processorNames),
    mode: oneOf(modes),
    set: t.Array(t.String(), { description: 'The names of what was given; the values are never answered' }),
    checkedAt: t.String({ ...Instant, description: 'When the processor said that it knows the keys' }),
  },
  { title: 'ProcessorAccount' },
)
export const ProcessorAccounts = t.Object(
  {
    data: t.Array(
      t.Object(
        {
          processor: oneOf(processorNames),
          fields: t.Array(
            t.Object({
              name: t.String({ description: 'As `PUT` takes it' }),
              secret: t.Boolean({ description: 'Kept sealed, and shown nobody; what is none stands in every payment page' }),
              required: t.Boolean(),
            }),
          ),
          takesMode: t.Boolean({ description: 'Whether `mode` says which money it is; of the others the keys or the host do' }),
          accounts: t.Array(ProcessorAccount, { description: "The shop's own, one of each mode at most" }),
          instance: t.Object({ TEST: t.Boolean(), LIVE: t.Boolean() }, { description: 'Whether the instance has an account of that mode' }),
        },
        { title: 'ProcessorFields' },
      ),
    ),
  },
  { title: 'ProcessorAccounts' },
)
export const AccountParam = t.Object({ processor: text(64) })
export const AccountQuery = t.Object({ mode: t.Optional(oneOf(modes, { description: 'Default that of the shop' })) })
