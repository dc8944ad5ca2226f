import type { Deps } from '../../../core/deps.ts'
import type { OutgoingMail } from '../../../core/mail-server.ts'
import { ownUrl } from '../../../core/public-url.ts'
import { isMailAddress, senderOf, storedMailAddress } from '../../../lib/mail-address.ts'
import { plainText } from '../../../lib/plain-text.ts'
import type { OrderLinkDeps } from '../../selling/order-link/index.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { readShop, type ShopDeps } from '../../shop/shop/index.ts'
import { isMailLanguage, type Mail, type MailContent, type MailLanguage, type MailTemplate, type ShopMail } from './domain.ts'
import { type Look, plainLook } from './layout.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { senderNameOf } from './sender-name.ts'
import { mailStore as store } from './store.ts'
import { type Links, rendered } from './templates.ts'
import { wordsOf } from './texts.ts'

const nameMax = 100
const defaultLanguage: MailLanguage = 'en'

/** A shop with how its mails look; nothing of the instance itself. */
type Sender = { readonly shop: Readonly<Shop>; readonly settings: ShopMail | undefined } | undefined

/** The pages of a storefront that mails lead to; those that it does not have are ours. */
export type PageKind = 'order' | 'reset' | 'verify' | 'invitation'
/** What of a shop says where its own pages are; null leads to ours, as what is left out does. */
type HasPages = Readonly<Pick<Shop, 'pages'>> | undefined

/** A page of the shop's storefront with the token in its query, where it has one; else ours. */
export function pageOf(deps: Pick<Deps, 'config' | 'life'>, shop: HasPages, kind: Exclude<PageKind, 'order'>, token: string): string {
  return withToken(shop?.pages[kind], token) ?? `${ownUrl(deps)}/pages/${kind}/${token}`
}

function withToken(page: string | null | undefined, token: string): string | undefined {
  const url = page ? URL.parse(page) : null
  if (!url) return undefined
  url.searchParams.set('token', token)
  return url.href
}

/** Links of one sender's mails. Awaited before they are made: the key of orders' links is. */
export async function linksOf(deps: OrderLinkDeps, shop: HasPages): Promise<Links> {
  const orders = await deps.orderLinks.ready()
  const page = (kind: Exclude<PageKind, 'order'>) => (token: string) => pageOf(deps, shop, kind, token)
  return {
    order: (orderId) => withToken(shop?.pages.order, orders.tokenOf(orderId)) ?? orders.urlOf(orderId),
    pay: orders.payUrlOf,
    reset: page('reset'),
    verify: page('verify'),
    invitation: page('invitation'),
  }
}

/** How mails and pages of a shop look, or those of the instance. */
export function lookOf(deps: Pick<Deps, 'config' | 'life'>, sender: Sender, language?: string | null): Look {
  const { shop, settings } = sender ?? {}
  const spoken = language ?? settings?.language
  return {
    title: plainText(shop?.title ?? instanceName(deps), nameMax) || (shop?.name ?? 'souk'),
    logoUrl: shop?.logoUrl ?? null,
    accent: settings?.accentColour ?? plainLook.accent,
    background: settings?.backgroundColour ?? plainLook.background,
    words: wordsOf(spoken && isMailLanguage(spoken) ? spoken : defaultLanguage, shop?.country ?? ''),
  }
}

const instanceName = (deps: Pick<Deps, 'config' | 'life'>): string =>
  senderOf(deps.config.mailFrom ?? '')?.name ?? new URL(ownUrl(deps)).hostname

/** Whom a shop's mails are from, as mail programs show it. */
export const shopSenderName = (
  deps: Pick<Deps, 'config' | 'life'>,
  { title, name }: Pick<Shop, 'title' | 'name'>,
  senderName?: string | null,
): string => senderNameOf(plainText(senderName ?? title, nameMax), name, instanceNames(deps))

/** What the instance itself is called: no shop may be called so. */
export const instanceNames = (deps: Pick<Deps, 'config' | 'life'>): string[] => [instanceName(deps), new URL(ownUrl(deps)).hostname]

/** The look of a shop by its id; of the instance, where there is none. */
export async function lookOfShop(deps: ShopDeps, shopId: string | null, language?: string | null): Promise<{ look: Look; sender: Sender }> {
  const sender = shopId === null ? undefined : await senderOfShop(deps, shopId)
  return { look: lookOf(deps, sender, language), sender }
}

async function senderOfShop(deps: ShopDeps, shopId: string): Promise<NonNullable<Sender>> {
  const [shop, settings] = await Promise.all([readShop(deps, shopId), store.settings(deps.db.read, shopId)])
  return { shop, settings }
}

/** The mail as it is handed over; undefined where no mail can be sent to its address. */
export async function made(
  deps: MailBaseDeps,
  mail: Pick<Mail, 'id' | 'shopId' | 'language' | 'template' | 'createdAt'>,
  { to, data }: MailContent,
): Promise<OutgoingMail | undefined> {
  const { look, sender } = await lookOfShop(deps, mail.shopId, mail.language)
  const from = senderOf(deps.config.mailFrom ?? '')
  if (!isMailAddress(to) || !from) return undefined
  const links = await linksOf(deps, sender?.shop)
  const replyTo = sender?.settings?.replyTo ?? sender?.shop.contact.email ?? undefined
  return {
    // Of the row, so that it is the same however often it is sent.
    messageId: `${mail.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`,
    from: { name: sender ? shopSenderName(deps, sender.shop, sender.settings?.senderName) : from.name, address: from.address },
    to: storedMailAddress(to),
    replyTo: replyTo !== undefined && isMailAddress(replyTo) ? storedMailAddress(replyTo) : undefined,
    language: look.words.language,
    at: mail.createdAt,
    ...rendered(mail.template as MailTemplate, data as never, look, links),
  }
}
