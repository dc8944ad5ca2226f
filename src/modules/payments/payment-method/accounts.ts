/** The accounts that a payment page may use: a shop's own, else the instance's. */
import { processors } from '../../../clients/processors/index.ts'
import type { Config } from '../../../config.ts'
import { modeOfKey } from '../../../lib/processor-keys.ts'
import { processorFacts } from '../../../lib/processors.ts'
import { apiHost, type ProcessorAccount } from '../processor-account/domain.ts'
import { isComplete, modeIn, settingsIn } from '../processor-account/index.ts'
import { type ProcessorName, processorNames, type ShopMethods } from './domain.ts'
import type { PublicAccount } from './resolver.ts'

type Mode = PublicAccount['mode']
/** The public facts of an account. */
type KnownAccount = {
  readonly account: PublicAccount
  /** Whether it has a secret key, so that payments are possible. */
  readonly canPay: boolean
  /** The host of its API, which identifies its breaker. */
  readonly host: string
  readonly isShops: boolean
}
export type KnownAccounts = Readonly<Partial<Record<ProcessorName, KnownAccount>>>

/**
 * Returns the instance's accounts with something to show.
 * @param mode the shop's; a BTCPay server has no mode of its own
 */
export const instanceAccountsOf = (config: Config, mode: Mode): KnownAccounts =>
  Object.fromEntries(
    processorNames.flatMap((processor) => {
      const { settings, apiUrl } = settingsIn(config, processor) ?? {}
      if (settings === undefined || apiUrl === undefined) return []
      const canPay = isComplete(processor, settings)
      const account = { mode: modeIn(processor, settings, apiUrl) ?? mode, ...shownOf(processor, settings) }
      // A button without credentials would fail.
      const isShown = canPay || (account.publishableKey !== undefined && processorFacts[processor].method === 'card')
      return isShown ? [[processor, { account, canPay, host: apiHost(apiUrl), isShops: false }]] : []
    }),
  )

function shownOf(processor: ProcessorName, settings: Readonly<Record<string, string>>): Omit<PublicAccount, 'mode'> {
  const { pageKey } = processors[processor]
  return { publishableKey: pageKey === undefined ? undefined : settings[pageKey], merchantId: settings['merchantId'] }
}

/**
 * Adds a shop's own accounts. One replaces the instance's account as a whole: a page that starts with one account's
 * key cannot be paid through another.
 */
export const withShopAccounts = (
  instance: KnownAccounts,
  shopAccounts: Readonly<Partial<Record<ProcessorName, Pick<ProcessorAccount, 'mode' | 'publishable' | 'host'>>>>,
): KnownAccounts => ({
  ...instance,
  ...Object.fromEntries(
    Object.entries(shopAccounts).map(([processor, { mode, publishable, host }]) => {
      const account = { mode, ...shownOf(processor as ProcessorName, publishable) }
      return [processor, { account, canPay: true, host, isShops: true }]
    }),
  ),
})

/** Returns the public facts of the instance's accounts. */
export const publicAccountsOf = (config: Config, mode: Mode): Readonly<Partial<Record<ProcessorName, PublicAccount>>> =>
  Object.fromEntries(Object.entries(instanceAccountsOf(config, mode)).map(([name, { account }]) => [name, account]))

/**
 * Lists the accounts that a shop's payment page can use: its own, and the card processor whose publishable key is in
 * the shop's settings. The mode of such a key comes from the key itself, else from its account, else from the shop.
 */
export function accountsFor(
  { mode, methods: { card } }: { readonly mode: Mode; readonly methods: ShopMethods },
  knownAccounts: KnownAccounts,
): Readonly<Partial<Record<ProcessorName, PublicAccount>>> {
  const accounts = Object.fromEntries(Object.entries(knownAccounts).map(([name, { account }]) => [name, account]))
  if (card?.processor === undefined || card.publishableKey === undefined) return accounts
  const { processor, publishableKey } = card
  const knownAccount = knownAccounts[processor]?.account
  const shopAccount = {
    mode: modeOfKey(publishableKey) ?? knownAccount?.mode ?? mode,
    publishableKey,
    merchantId: knownAccount?.merchantId,
  }
  return { ...accounts, [processor]: shopAccount }
}

/** Returns the processors that can take payments for a shop: with a secret key behind the public one. */
export function payableFor(
  { mode, methods: { card, paypal } }: { readonly mode: Mode; readonly methods: ShopMethods },
  knownAccounts: KnownAccounts,
): ReadonlySet<ProcessorName> {
  const shopKeys = { ...(card?.processor ? { [card.processor]: card.publishableKey } : {}), paypal: paypal?.clientId }
  const isPayable = (name: ProcessorName) => {
    const knownAccount = knownAccounts[name]
    const key = shopKeys[name as keyof typeof shopKeys]
    if (knownAccount?.canPay !== true || knownAccount.account.mode !== mode) return false
    // A shop may have its secret key here and its publishable key in its methods.
    const isOfShop = knownAccount.isShops && knownAccount.account.publishableKey === undefined
    return key === undefined || key === knownAccount.account.publishableKey || isOfShop
  }
  return new Set(processorNames.filter(isPayable))
}
