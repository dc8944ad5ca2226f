import type { CommandContext } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { senderOf, storedMailAddress } from '../../../lib/mail-address.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import type { OrderLinkDeps } from '../../selling/order-link/index.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { readShop } from '../../shop/shop/index.ts'
import { appearanceOf, createLinks, instanceNames, shopSenderName } from './compose.ts'
import { isMailLanguage, type MailLanguage, type MailTemplate, type ShopMail } from './domain.ts'
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
}

const defaultSettings = (shopId: string): ShopMail => ({
  ...{ shopId, senderName: null, replyTo: null, accentColour: null, backgroundColour: null, language: 'en' },
  ...{ version: 1, updatedAt: 0 },
})

/** Renders the settings with effective values. */
const viewOf = (
  deps: MailBaseDeps,
  shop: Readonly<Shop>,
  { senderName, replyTo, accentColour, backgroundColour, language, version }: ShopMail,
  limits: Awaited<ReturnType<typeof shopUsage>>,
) => ({
  senderName,
  replyTo,
  colours: { accent: accentColour, background: backgroundColour },
  language: isMailLanguage(language) ? language : ('en' as const),
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
export type MailSettingsView = ReturnType<typeof viewOf>

/** @throws AppError NOT_FOUND */
export async function readMailSettings(deps: MailBaseDeps, shopId: string): Promise<MailSettingsView> {
  const [shop, row] = await Promise.all([readShop(deps, shopId), store.settings(deps.db.read, shopId)])
  return viewOf(deps, shop, row ?? defaultSettings(shopId), await shopUsage(deps, shop))
}

/**
 * Replaces a shop's mail settings.
 * @throws AppError INVALID for a sender name that could pass for a processor's or the instance's; NOT_FOUND,
 * PRECONDITION_FAILED
 */
export async function setMailSettings(deps: MailBaseDeps, by: CommandContext, settings: MailSettings): Promise<MailSettingsView> {
  const shopId = by.shop.id
  if (settings.senderName !== null && isReservedName(settings.senderName, instanceNames(deps)))
    throw new AppError('INVALID', 'senderName (body): must not look like the name of a payment processor, a card network or this instance')
  const shop = await readShop(deps, shopId)
  const row = await audited(deps, by, { action: 'shop.mail_set', subject: shopId }, async (tx, tell) => {
    const found = await store.settings(tx, shopId)
    const before = found ?? defaultSettings(shopId)
    assertVersion(by.expected, before.version)
    const replyTo = settings.replyTo && storedMailAddress(settings.replyTo)
    const after: ShopMail = { ...settings, replyTo, shopId, version: before.version + 1, updatedAt: deps.clock.now() }
    const stored = assertNotStale(await (found ? store.updateSettings(tx, after, before.version) : store.insertSettings(tx, after)))
    tell(differenceOf(before, after, ['accentColour', 'backgroundColour', 'language']))
    return stored
  })
  return viewOf(deps, shop, row, await shopUsage(deps, shop))
}

/** Renders a sample mail in the shop's appearance. @throws AppError NOT_FOUND */
export async function previewMail(
  deps: MailBaseDeps & OrderLinkDeps,
  shopId: string,
  template: MailTemplate,
  language: MailLanguage | undefined,
): Promise<{ subject: string; text: string; html: string }> {
  const [shop, settings] = await Promise.all([readShop(deps, shopId), store.settings(deps.db.read, shopId)])
  const links = await createLinks(deps, shop)
  return renderMail(template, sampleData(shop.currency)[template], appearanceOf(deps, { shop, settings }, language), links)
}
