/** What a shop says of its ways to pay, as the fields of a form; and the resolver's steps, as they are drawn. */
import type { Schema } from '../../lib/api/api.ts'

type Methods = Omit<Schema<'PaymentMethods'>, 'warnings'>
type Resolved = Schema<'ResolvedPaymentMethods'>
export type Link = Resolved['meta']['chain'][number]
export type Method = Link['method']

export const methods = ['card', 'paypal', 'crypto', 'wallet'] as const satisfies readonly Method[]
export const cardProcessors = ['stripe', 'tap', 'qpay', 'checkout'] as const
type CardProcessor = (typeof cardProcessors)[number]

/** `auto`: the shop says nothing of it, and its partnership or the cohort of its business decides. */
export type Stand = 'auto' | 'on' | 'off'
export type MethodTexts = {
  card: Stand
  processor: CardProcessor | ''
  publishableKey: string
  paypal: Stand
  clientId: string
  crypto: Stand
  wallet: Stand
  tokenProvider: CardProcessor | ''
  merchantIdentifier: string
}

const standOf = (method: { enabled: boolean } | undefined): Stand => (method === undefined ? 'auto' : method.enabled ? 'on' : 'off')

export const textsOfMethods = ({ card, paypal, crypto, wallet }: Methods): MethodTexts => ({
  card: standOf(card),
  processor: card?.processor ?? '',
  publishableKey: card?.publishableKey ?? '',
  paypal: standOf(paypal),
  clientId: paypal?.clientId ?? '',
  crypto: standOf(crypto),
  wallet: standOf(wallet),
  tokenProvider: wallet?.tokenProvider ?? '',
  merchantIdentifier: wallet?.merchantIdentifier ?? '',
})

/** The body of `PUT /shops/v2/payment-methods`, which replaces all of it. What stands beside a method that is off is kept. */
export function methodsOf(typed: MethodTexts): Methods {
  const said = <More extends object>(stand: Stand, more: More) => (stand === 'auto' ? undefined : { enabled: stand === 'on', ...more })
  const text = <Name extends string>(name: Name, value: string) =>
    (value.trim() === '' ? {} : { [name]: value.trim() }) as { [_ in Name]?: string }
  // A key is of a processor.
  const card = said(typed.card, typed.processor ? { processor: typed.processor, ...text('publishableKey', typed.publishableKey) } : {})
  const paypal = said(typed.paypal, text('clientId', typed.clientId))
  const crypto = said(typed.crypto, {})
  const wallet = said(typed.wallet, {
    ...(typed.tokenProvider ? { tokenProvider: typed.tokenProvider } : {}),
    ...text('merchantIdentifier', typed.merchantIdentifier),
  })
  return { ...(card && { card }), ...(paypal && { paypal }), ...(crypto && { crypto }), ...(wallet && { wallet }) }
}

/** The way that the resolver went for one method, and where it came out. */
export type Way = { readonly method: Method; readonly links: readonly Link[]; readonly chosen: string | undefined }

/** Its ways, a method each, in the order of `methods`. */
export const waysOf = ({ meta: { chain } }: Pick<Resolved, 'meta'>): readonly Way[] =>
  methods.map((method) => {
    const links = chain.filter((link) => link.method === method)
    return { method, links, chosen: links.find(({ outcome }) => outcome === 'SELECTED')?.candidate ?? undefined }
  })
