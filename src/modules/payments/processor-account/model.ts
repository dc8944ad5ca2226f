import { t } from 'elysia'
import { processors } from '../../../clients/processors/index.ts'
import { fieldsOf, Instant, nullable, oneOf, text } from '../../../http/schema.ts'
import { processorNames } from '../../../lib/processors.ts'

const modes = ['TEST', 'LIVE'] as const
const token = { minLength: 1, pattern: '^[\\x21-\\x7e]+$', rule: 'ASCII characters without spaces' }
/** Base64 output; the value may contain anything. */
const anyText = { minLength: 1, pattern: '^[^\\u0000-\\u001f\\u007f]+$', rule: 'text without control characters' }

/** Builds the schema of a field from all processors that have it. */
function fieldSchema(name: string) {
  const owners = processorNames.flatMap((processor) => {
    const field = processors[processor].fields[name]
    return field ? [{ ...field, processor }] : []
  })
  const isSecret = owners.every(({ isPublic }) => !isPublic)
  const meanings = Map.groupBy(owners, ({ description: meaning }) => meaning)
  const texts = [...meanings].map(([meaning, of]) => `${of.map(({ processor }) => `\`${processor}\``).join(', ')}: ${meaning}`)
  const description = `${isSecret ? 'Secret. ' : ''}${texts.join('; ')}${name === 'apiUrl' ? '. A public https URL' : ''}`
  return t.Optional(text(300, { ...(owners.some(({ isText }) => isText) ? anyText : token), description }))
}
const fieldNames = [...new Set(processorNames.flatMap((processor) => Object.keys(processors[processor].fields)))]

const labels = (description: string) => t.Array(t.String(), { description })

/** Fields of all processors; the service checks which ones apply. */
export const PutProcessorAccount = t.Object(
  {
    ...(Object.fromEntries(fieldNames.map((name) => [name, fieldSchema(name)])) as Record<string, ReturnType<typeof fieldSchema>>),
    mode: t.Optional(oneOf(modes, { description: "Required if neither the keys nor the host determine it. Default: the shop's mode" })),
  },
  { title: 'ProcessorAccountInput' },
)

export const ProcessorAccount = t.Object(
  {
    processor: oneOf(processorNames),
    mode: oneOf(modes),
    set: t.Array(t.String(), { description: 'Names of the fields that are set. Values are never returned' }),
    checkedAt: t.String({ ...Instant, description: 'When the processor last accepted the keys' }),
  },
  { title: 'ProcessorAccount' },
)
export const ConnectionTest = t.Object(
  {
    processor: oneOf(processorNames),
    mode: oneOf(modes),
    result: oneOf(['CONNECTED', 'REJECTED', 'NO_ANSWER'], { description: '`NO_ANSWER`: the keys may be right' }),
    fields: t.Array(t.String(), { description: 'Names of the fields that the processor rejects' }),
    message: t.String({ description: 'The result in words' }),
  },
  { title: 'ConnectionTest' },
)
export const ProcessorAccounts = t.Object(
  {
    data: t.Array(
      t.Object(
        {
          processor: oneOf(processorNames),
          fields: t.Array(
            t.Object({
              name: t.String({ description: 'Name of the field in `PUT`' }),
              secret: t.Boolean({
                description: 'Whether the value is stored encrypted and never returned. Other values are shown on payment pages',
              }),
              required: t.Boolean(),
            }),
          ),
          setup: t.Object(
            {
              dashboard: nullable(t.Object(fieldsOf(t.String(), 'TEST', 'LIVE'), { description: 'URLs of the pages with the keys' })),
              keys: labels('Where the keys are in the dashboard, from menu to page. Empty: the processor sends them'),
              webhook: nullable(
                t.Object(
                  {
                    url: t.String({ description: 'The URL to enter, under `PUBLIC_URL`' }),
                    at: labels('Where to enter it'),
                    events: labels('The events to subscribe to'),
                  },
                  { description: 'Null: souk sends the URL with each payment' },
                ),
              ),
              rights: labels('The rights that a restricted key needs. Empty: its keys have no rights'),
            },
            { description: "How to get an account's fields" },
          ),
          takesMode: t.Boolean({ description: 'Whether `mode` selects test or real money. Otherwise the keys or the host determine it' }),
          accounts: t.Array(ProcessorAccount, { description: "The shop's own accounts, at most one for each mode" }),
          instance: t.Object({ TEST: t.Boolean(), LIVE: t.Boolean() }, { description: 'Modes for which the instance has an account' }),
        },
        { title: 'ProcessorFields' },
      ),
    ),
  },
  { title: 'ProcessorAccounts' },
)
export const AccountParam = t.Object({ processor: text(64) })
export const AccountQuery = t.Object({ mode: t.Optional(oneOf(modes, { description: "Default: the shop's mode" })) })
