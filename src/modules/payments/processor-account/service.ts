import { processors } from '../../../clients/processors/index.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { publicUrlOf } from '../../../core/public-url.ts'
import { assertVersion } from '../../../core/versions.ts'
import { countAttempt } from '../../identity/auth/index.ts'
import { audited } from '../../operations/audit/index.ts'
import { processorNames } from '../payment-method/domain.ts'
import { acceptsUrl, fieldNames, identityOf } from './account-fields.ts'
import { type AccountBody, type AccountInput, parseAccount, whichOf } from './account-input.ts'
import { assertKeysAccepted } from './connection.ts'
import { type AccountRow, type AccountView, accountSeal, accountView, type Mode, type ProcessorName, putsByShop } from './domain.ts'
import { instanceAccount, publishableOf } from './instance.ts'
import type { ProcessorAccountDeps } from './providers.ts'
import type { Which } from './store.ts'

const noSuchAccount = () => new AppError('NOT_FOUND', 'The shop has no account of its own with this processor in this mode')

/**
 * Reads the shop's own account: the names of its fields, never the values.
 * @param mode default: the shop's
 * @throws AppError NOT_FOUND, also where payments use the instance's account
 */
export async function readAccount(deps: ProcessorAccountDeps, shop: ShopContext, name: string, mode?: Mode): Promise<AccountView> {
  const row = await deps.processorAccountStore.findLive(whichOf(shop, name, mode))
  if (!row) throw noSuchAccount()
  return accountView(row)
}

/** Lists every processor: its fields, the shop's accounts, and whether the instance has one. */
export async function listAccounts(deps: ProcessorAccountDeps & Pick<Deps, 'life'>, { id }: Pick<ShopContext, 'id'>) {
  const { processorAccountStore: store, config } = deps
  const rows = [...(await store.liveOf(id, 'TEST')), ...(await store.liveOf(id, 'LIVE'))]
  const data = processorNames.map((processor) => {
    const { publishable, sealed } = fieldNames(processor)
    const { required, modeIsAsked = false } = processors[processor]
    const names = [...publishable, ...sealed, ...(acceptsUrl(processor) ? ['apiUrl'] : [])]
    return {
      processor,
      fields: names.map((name) => ({ name, secret: sealed.includes(name), required: required.includes(name) })),
      takesMode: modeIsAsked,
      setup: setupOf(processor, `${publicUrlOf(deps)}/webhooks/payments/${processor}/${id}`),
      accounts: rows.filter((row) => row.processor === processor).map(accountView),
      instance: {
        TEST: instanceAccount(config, processor, 'TEST') !== undefined,
        LIVE: instanceAccount(config, processor, 'LIVE') !== undefined,
      },
    }
  })
  return { data }
}

/** Returns how a merchant sets up an account, with the URL of its webhook. */
function setupOf(name: ProcessorName, url: string) {
  const { dashboard, keys, webhook, rights = [] } = processors[name].setup
  return {
    dashboard: dashboard ?? null,
    keys: [...keys],
    webhook: webhook ? { url, at: [...webhook.at], events: [...webhook.events] } : null,
    rights: [...rights],
  }
}

/**
 * Replaces the shop's own account with a processor, after the processor has accepted the keys. New payments go through
 * it. Earlier payments keep the account that took them.
 * @throws AppError NOT_FOUND for an unknown processor; INVALID, naming the field, also for keys that the processor
 *   rejects; UNAVAILABLE if it does not answer; PRECONDITION_FAILED; RATE_LIMITED after ten within an hour
 */
export async function putAccount(
  deps: ProcessorAccountDeps,
  by: CommandContext<ShopContext>,
  name: string,
  input: AccountBody,
): Promise<AccountView> {
  const { shop } = by
  const account = parseAccount(deps.config, whichOf(shop, name).processor, shop.mode, input)
  const which = { shopId: shop.id, processor: account.processor, mode: account.mode }
  assertVersion(by.expected, (await deps.processorAccountStore.findLive(which))?.version ?? 0)
  await countAttempt(deps, [[putsByShop, shop.id]])
  await assertKeysAccepted(deps, account)
  const entry = { action: 'shop.processor_account_set', subject: shop.id }
  return audited(deps, by, entry, async (tx, setDifference) => {
    const { processorAccountStore: store, clock } = deps
    const before = await store.findLive(which, tx)
    assertVersion(by.expected, before?.version ?? 0)
    const identity = identityOf(account.processor, {
      ...account.settings,
      ...(account.ownUrl === undefined ? {} : { apiUrl: account.ownUrl }),
    })
    const previous = identity === null ? undefined : await store.known(tx, which, identity)
    const version = await store.lastVersion(tx, which)
    const row = rowOf(deps, which, account, { identity, accountId: previous?.accountId, version: version + 1 })
    if (before) await store.retire(tx, before.id, clock.now())
    await store.insert(tx, row)
    setDifference({ before: before ? auditedFields(before) : null, after: auditedFields(row) })
    return accountView(row)
  })
}

/**
 * Removes the shop's own account: new payments use the instance's, if there is one. Earlier payments keep it.
 * @param mode default: the shop's
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED
 */
export async function removeAccount(deps: ProcessorAccountDeps, by: CommandContext<ShopContext>, name: string, mode?: Mode): Promise<void> {
  const which = whichOf(by.shop, name, mode)
  await audited(deps, by, { action: 'shop.processor_account_removed', subject: by.shop.id }, async (tx, setDifference) => {
    const before = await deps.processorAccountStore.findLive(which, tx)
    if (!before) throw noSuchAccount()
    assertVersion(by.expected, before.version)
    await deps.processorAccountStore.retire(tx, before.id, deps.clock.now())
    setDifference({ before: auditedFields(before), after: null })
  })
}

/** The audited fields: which keys, and the names of the given fields. */
const auditedFields = ({ id, accountId, processor, mode, names }: AccountRow) => ({
  processor,
  mode,
  account: accountId,
  keys: id,
  set: names,
})

function rowOf(
  { keyring, clock, newId }: ProcessorAccountDeps,
  which: Which,
  { processor, settings, ownUrl, names }: AccountInput,
  { accountId, ...rest }: Pick<AccountRow, 'identity' | 'version'> & { accountId: string | undefined },
): AccountRow {
  const id = newId('processorAccount')
  const publishable = publishableOf(processor, settings)
  const sealed = Object.fromEntries(Object.entries(settings).filter(([name]) => !(name in publishable)))
  const now = clock.now()
  return {
    id,
    ...which,
    accountId: accountId ?? id,
    ...rest,
    publishable,
    sealedSettings: keyring.seal(JSON.stringify(sealed), accountSeal({ id, shopId: which.shopId, processor })),
    apiUrl: ownUrl ?? null,
    names,
    checkedAt: now,
    createdAt: now,
    retiredAt: null,
  }
}
