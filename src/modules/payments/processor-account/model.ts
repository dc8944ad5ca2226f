import { t } from 'elysia'
import { Instant, oneOf, text } from '../../../http/schema.ts'
import { processorNames } from '../payment-method/domain.ts'

const modes = ['TEST', 'LIVE'] as const
const given = (description: string) =>
  t.Optional(text(300, { minLength: 1, pattern: '^[\\x21-\\x7e]+$', rule: 'characters of ASCII without spaces', description }))
/** Base64 output; the value may contain anything. */
const anyText = (description: string) =>
  t.Optional(text(300, { minLength: 1, pattern: '^[^\\u0000-\\u001f\\u007f]+$', rule: 'no control characters', description }))
const secret = (of: string) => given(`Secret; ${of}`)

/** Fields of all processors; the service checks which ones apply. */
export const PutProcessorAccount = t.Object(
  {
    publishableKey: given('`stripe`, `tap`, `checkout`: what payment pages begin with'),
    secretKey: secret('`stripe`, `tap`, `checkout`'),
    webhookSecret: anyText("Secret; `stripe`, `checkout`, `btcpay`: what the processor's messages are signed with"),
    merchantId: given('`tap`: its name of the merchant, which Google Pay asks for'),
    username: anyText('Secret; `qpay`'),
    password: anyText('Secret; `qpay`'),
    invoiceCode: given('`qpay`: what payment pages begin with'),
    channelId: secret('`checkout`: the processing channel'),
    clientId: given('`paypal`: what payment pages begin with'),
    secret: secret('`paypal`'),
    webhookId: secret('`paypal`: of the webhook whose messages come here'),
    storeId: anyText('Secret; `btcpay`'),
    apiKey: secret('`btcpay`'),
    apiUrl: given("`btcpay`, where the server is; `checkout`, the account's own host. A public https address"),
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
