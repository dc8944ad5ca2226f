import type { Reader, Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { invalidField } from '../../../core/errors.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { normalMailAddress, senderOf, storedMailAddress } from '../../../lib/mail-address.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import type { OrderLinkDeps } from '../../selling/order-link/index.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { readShop } from '../../shop/shop/index.ts'
import { appearanceOf, createLinks, instanceNames, shopSenderName } from './compose.ts'
import {
  type AbandonedCartMail,
  abandonedCartMailDefault,
  isMailLanguage,
  type MailLanguage,
  type MailTemplate,
  placeholdersOf,
  type ShopMail,
} from './domain.ts'
import { defaultLook } from './layout.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { sendsMail } from './queue.ts'
import { shopUsage } from './quotas.ts'
import { sampleData } from './samples.ts'
import { isReservedName } from './sender-name.ts'
import { mailStore as store } from './store.ts'
import { renderMail } from './templates.ts'

/** A shop's mail settings; null: default. */
export type MailSettings = {
  readonly senderName: string | null
  readonly replyTo: string | null
  readonly accentColour: string | null
  readonly backgroundColour: string | null
  readonly language: MailLanguage
  /** Addresses that get the mail `new_order`. */
  readonly orderMails: readonly string[]
  readonly abandonedCartMail: AbandonedCartMail
}

const defaultSettings = (shopId: string): ShopMail => ({
  ...{
    shopId,
    senderName: null,
    replyTo: null,
    accentColour: null,
    backgroundColour: null,
    language: 'en',
    orderMails: null,
    abandonedCartMail: null,
  },
  ...{ version: 1, updatedAt: 0 },
})

/** Renders the settings with effective values. */
const viewOf = (
  deps: MailBaseDeps,
  shop: Readonly<Shop>,
  { senderName, replyTo, accentColour, backgroundColour, language, orderMails, abandonedCartMail, version }: ShopMail,
  limits: Awaited<ReturnType<typeof shopUsage>>,
) => ({
  senderName,
  replyTo,
  colours: { accent: accentColour, background: backgroundColour },
  language: isMailLanguage(language) ? language : ('en' as const),
  orderMails: [...(orderMails ?? [])],
  abandonedCartMail: abandonedCartMail ?? abandonedCartMailDefault,
  effective: {
    senderName: shopSenderName(deps, shop, senderName),
    address: senderOf(deps.config.mailFrom ?? '')?.address ?? null,
    replyTo: replyTo ?? shop.contact.email ?? null,
    colours: { accent: accentColour ?? defaultLook.accent, background: backgroundColour ?? defaultLook.background },
  },
  sending: sendsMail(deps),
  limits,
  version,
})
type MailSettingsView = ReturnType<typeof viewOf>

/** @throws AppError NOT_FOUND */
export async function readMailSettings(deps: MailBaseDeps, shopId: string): Promise<MailSettingsView> {
  const [shop, row] = await Promise.all([readShop(deps, shopId), store.settings(deps.db.read, shopId)])
  return viewOf(deps, shop, row ?? defaultSettings(shopId), await shopUsage(deps, shop))
}

/**
 * Replaces a shop's mail settings.
 * @throws AppError INVALID for a sender name that could pass for a processor's or the instance's, or a repeated
 * address; NOT_FOUND, PRECONDITION_FAILED
 */
export async function setMailSettings(deps: MailBaseDeps, by: CommandContext, settings: MailSettings): Promise<MailSettingsView> {
  const shopId = by.shop.id
  if (settings.senderName !== null && isReservedName(settings.senderName, instanceNames(deps)))
    throw invalidField('senderName', 'must not look like the name of a payment processor, a card network or this instance')
  const addresses = settings.orderMails.map(normalMailAddress)
  const repeated = addresses.findIndex((address, at) => addresses.indexOf(address) < at)
  if (repeated >= 0) throw invalidField(`orderMails.${repeated}`, 'must not repeat an address')
  const shop = await readShop(deps, shopId)
  const row = await audited(deps, by, { action: 'shop.mail_set', subject: shopId }, async (tx, setDifference) => {
    const found = await store.settings(tx, shopId)
    const before = found ?? defaultSettings(shopId)
    assertVersion(by.expected, before.version)
    const replyTo = settings.replyTo && storedMailAddress(settings.replyTo)
    const orderMails = settings.orderMails.length > 0 ? settings.orderMails.map(storedMailAddress) : null
    const after: ShopMail = { ...settings, replyTo, orderMails, shopId, version: before.version + 1, updatedAt: deps.clock.now() }
    const stored = assertNotStale(await (found ? store.updateSettings(tx, after, before.version) : store.insertSettings(tx, after)))
    setDifference(differenceOf(before, after, ['accentColour', 'backgroundColour', 'language', 'abandonedCartMail']))
    return stored
  })
  return viewOf(deps, shop, row, await shopUsage(deps, shop))
}

/** Returns the addresses that get a mail for each order of a shop; none without a mail server. */
export const readOrderMails = async (tx: Writer, deps: Pick<MailBaseDeps, 'config'>, shopId: string): Promise<readonly string[]> =>
  sendsMail(deps) ? ((await store.settings(tx, shopId))?.orderMails ?? []) : []

/** Returns a shop's settings of the mail about abandoned carts. */
export const readAbandonedCartMail = async (from: Pick<Reader, 'first'>, shopId: string): Promise<AbandonedCartMail> =>
  (await store.settings(from, shopId))?.abandonedCartMail ?? abandonedCartMailDefault

/** Renders a sample mail in the shop's appearance and with its texts. @throws AppError NOT_FOUND */
export async function previewMail(
  deps: MailBaseDeps & OrderLinkDeps,
  shopId: string,
  template: MailTemplate,
  language: MailLanguage | undefined,
): Promise<{ subject: string; text: string; html: string; placeholders: string[] }> {
  const [shop, settings] = await Promise.all([readShop(deps, shopId), store.settings(deps.db.read, shopId)])
  const look = appearanceOf(deps, { shop, settings }, language)
  const [links, texts] = await Promise.all([
    createLinks(deps, shop),
    store.texts(deps.db.read, { shopId, template, language: look.words.language }),
  ])
  const { unsubscribeUrl: _, ...mail } = renderMail(template, sampleData(shop.currency)[template], look, links, texts)
  return { ...mail, placeholders: [...placeholdersOf(template)] }
}
