/** The form values of payment methods, and the resolver's steps. */
import type { CardProcessor } from '../../../lib/processors.ts'
import type { Schema } from '../../lib/api/api.ts'

type Methods = Omit<Schema<'PaymentMethods'>, 'warnings' | 'manual'>
type Resolved = Schema<'ResolvedPaymentMethods'>
export type ResolverLink = Resolved['meta']['chain'][number]
type Method = ResolverLink['method']

export const methods = ['card', 'paypal', 'crypto', 'wallet'] as const satisfies readonly Method[]

/** `auto`: the partnership or cohort decides. */
export type MethodSetting = 'auto' | 'on' | 'off'
export type MethodTexts = {
  card: MethodSetting
  processor: CardProcessor | ''
  publishableKey: string
  paypal: MethodSetting
  clientId: string
  crypto: MethodSetting
  wallet: MethodSetting
  tokenProvider: CardProcessor | ''
  merchantIdentifier: string
}

const settingOf = (method: { enabled: boolean } | undefined): MethodSetting =>
  method === undefined ? 'auto' : method.enabled ? 'on' : 'off'

/** Returns the form's values of the stored settings. */
export const textsOfMethods = ({ card, paypal, crypto, wallet }: Methods): MethodTexts => ({
  card: settingOf(card),
  processor: card?.processor ?? '',
  publishableKey: card?.publishableKey ?? '',
  paypal: settingOf(paypal),
  clientId: paypal?.clientId ?? '',
  crypto: settingOf(crypto),
  wallet: settingOf(wallet),
  tokenProvider: wallet?.tokenProvider ?? '',
  merchantIdentifier: wallet?.merchantIdentifier ?? '',
})

/**
 * Builds the body of `PUT /shops/v2/payment-methods`, which replaces all settings. Fields of a disabled method stay.
 */
export function methodsOf(input: MethodTexts): Methods {
  const withSetting = <More extends object>(setting: MethodSetting, fields: More) =>
    setting === 'auto' ? undefined : { enabled: setting === 'on', ...fields }
  const optionalText = <Name extends string>(name: Name, value: string) =>
    (value.trim() === '' ? {} : { [name]: value.trim() }) as { [_ in Name]?: string }
  // A key needs its processor.
  const card = withSetting(
    input.card,
    input.processor ? { processor: input.processor, ...optionalText('publishableKey', input.publishableKey) } : {},
  )
  const paypal = withSetting(input.paypal, optionalText('clientId', input.clientId))
  const crypto = withSetting(input.crypto, {})
  const wallet = withSetting(input.wallet, {
    ...(input.tokenProvider ? { tokenProvider: input.tokenProvider } : {}),
    ...optionalText('merchantIdentifier', input.merchantIdentifier),
  })
  return { ...(card && { card }), ...(paypal && { paypal }), ...(crypto && { crypto }), ...(wallet && { wallet }) }
}

/** The resolver's steps for a method and the selected processor. */
export type MethodResolution = { readonly method: Method; readonly links: readonly ResolverLink[]; readonly selected: string | undefined }

/** Groups the resolver's steps by method. */
export const resolutionsOf = ({ meta: { chain } }: Pick<Resolved, 'meta'>): readonly MethodResolution[] =>
  methods.map((method) => {
    const links = chain.filter((link) => link.method === method)
    return { method, links, selected: links.find(({ outcome }) => outcome === 'SELECTED')?.candidate ?? undefined }
  })
