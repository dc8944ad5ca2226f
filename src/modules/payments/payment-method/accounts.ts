/** The accounts with processors that a payment page may be told of: a shop's own, else the instance's. */
import type { Config } from '../../../config.ts'
import { modeOfKey } from '../../../lib/processor-keys.ts'
import { accountFields, apiHost, modeIn, type ProcessorAccount } from '../processor-account/domain.ts'
import { isComplete, settingsIn } from '../processor-account/index.ts'
import { type ProcessorName, processorNames, type ShopMethods } from './domain.ts'
import type { PublicAccount } from './resolver.ts'

type Mode = PublicAccount['mode']
/** What has to be known of an account: nothing secret. */
export type KnownAccount = {
  readonly account: PublicAccount
  /** Whether there is a secret key besides, so that a payment can be made through it. */
  readonly canPay: boolean
  /** Of its API: what its breaker goes by. */
  readonly host: string
  readonly isShops: boolean
}
export type KnownAccounts = Readonly<Partial<Record<ProcessorName, KnownAccount>>>

/**
 * The instance's own accounts of which a payment page could be told something.
 * @param mode of the shop that asks: a BTCPay server says nothing of what its coins are worth, and is taken for the shop's
 */
export const instanceAccountsOf = (config: Config, mode: Mode): KnownAccounts =>
  Object.fromEntries(
    processorNames.flatMap((processor) => {
      const { settings, apiUrl } = settingsIn(config, processor) ?? {}
      if (settings === undefined || apiUrl === undefined) return []
      const canPay = isComplete(processor, settings)
      const account = { mode: modeIn(processor, settings, apiUrl) ?? mode, ...shownOf(processor, settings) }
      // A button without credentials behind it would be worse than none.
      const isThere = canPay || (account.publishableKey !== undefined && processor !== 'paypal')
      return isThere ? [[processor, { account, canPay, host: apiHost(apiUrl), isShops: false }]] : []
    }),
  )

function shownOf(processor: ProcessorName, settings: Readonly<Record<string, string>>): Omit<PublicAccount, 'mode'> {
  const { pageKey } = accountFields[processor]
  return { publishableKey: pageKey === undefined ? undefined : settings[pageKey], merchantId: settings['merchantId'] }
}

/**
 * The same for a shop: where it has an account of its own, the instance's is no part of it any more, not even its publishable key, since
 * what a page begins with one account's key cannot be paid through another.
 */
export const withShopAccounts = (
  instance: KnownAccounts,
  own: Readonly<Partial<Record<ProcessorName, Pick<ProcessorAccount, 'mode' | 'publishable' | 'host'>>>>,
): KnownAccounts => ({
  ...instance,
  ...Object.fromEntries(
    Object.entries(own).map(([processor, { mode, publishable, host }]) => {
      const account = { mode, ...shownOf(processor as ProcessorName, publishable) }
      return [processor, { account, canPay: true, host, isShops: true }]
    }),
  ),
})

/** What a payment page may be told of the instance's own accounts. */
export const publicAccountsOf = (config: Config, mode: Mode): Readonly<Partial<Record<ProcessorName, PublicAccount>>> =>
  Object.fromEntries(Object.entries(instanceAccountsOf(config, mode)).map(([name, { account }]) => [name, account]))

/**
 * What a shop's payment page may be told of: the accounts that there are, and the card processor for which the shop's configuration has a
 * key. Of that one the key says whether it is of test money; where it does not, it is of the account behind it, or else the shop's.
 */
export function accountsFor(
  { mode, methods: { card } }: { readonly mode: Mode; readonly methods: ShopMethods },
  known: KnownAccounts,
): Readonly<Partial<Record<ProcessorName, PublicAccount>>> {
  const accounts = Object.fromEntries(Object.entries(known).map(([name, { account }]) => [name, account]))
  if (card?.processor === undefined || card.publishableKey === undefined) return accounts
  const { processor, publishableKey } = card
  const behind = known[processor]?.account
  const own = { mode: modeOfKey(publishableKey) ?? behind?.mode ?? mode, publishableKey, merchantId: behind?.merchantId }
  return { ...accounts, [processor]: own }
}

/** The processors through which the shop's payments can be made: with a secret key behind what the page begins with. */
export function payableFor(
  { mode, methods: { card, paypal } }: { readonly mode: Mode; readonly methods: ShopMethods },
  known: KnownAccounts,
): ReadonlySet<ProcessorName> {
  const own = { ...(card?.processor ? { [card.processor]: card.publishableKey } : {}), paypal: paypal?.clientId }
  const isPayable = (name: ProcessorName) => {
    const behind = known[name]
    const key = own[name as keyof typeof own]
    if (behind?.canPay !== true || behind.account.mode !== mode) return false
    // A shop may say its secret key here and its publishable one there.
    const isOfShop = behind.isShops && behind.account.publishableKey === undefined
    return key === undefined || key === behind.account.publishableKey || isOfShop
  }
  return new Set(processorNames.filter(isPayable))
}
