import type { Deps } from '../../../core/deps.ts'
import type { OutgoingMail } from '../../../core/mail-server.ts'
import { publicUrlOf } from '../../../core/public-url.ts'
import { isMailAddress, senderOf, storedMailAddress } from '../../../lib/mail-address.ts'
import { plainText } from '../../../lib/plain-text.ts'
import type { OrderLinkDeps } from '../../selling/order-link/index.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { readShop, type ShopDeps } from '../../shop/shop/index.ts'
import { isMailLanguage, type Mail, type MailContent, type MailLanguage, type MailTemplate, type ShopMail } from './domain.ts'
import type { EditedTexts } from './edited-texts.ts'
import { defaultLook, type Look } from './layout.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { senderNameOf } from './sender-name.ts'
import { mailStore as store } from './store.ts'
import { type Links, renderMail } from './templates.ts'
import { phrasebookOf } from './texts.ts'

const nameMax = 100
const defaultLanguage: MailLanguage = 'en'

/** A shop with its mail settings; undefined: the instance itself. */
type Sender = { readonly shop: Readonly<Shop>; readonly settings: ShopMail | undefined } | undefined

/** Pages that mails link to. Those that the shop's storefront lacks are served by souk. */
type PageKind = 'order' | 'reset' | 'verify' | 'invitation' | 'cart'
/** The shop's own pages. Null or undefined: served by souk. */
type ShopPages = Readonly<Pick<Shop, 'pages'>> | undefined

/**
 * Returns the URL of the shop's page with the token in its query, or of souk's page. Invitations lead to the console,
 * which logs in. In links of mails the token follows the last slash; behind `#` it reaches no server.
 */
export function mailPageUrl(deps: Pick<Deps, 'config' | 'life'>, shop: ShopPages, kind: Exclude<PageKind, 'order'>, token: string): string {
  const ownPage = addToken(shop?.pages[kind], token)
  if (ownPage !== undefined) return ownPage
  const isInConsole = kind === 'invitation' && deps.config.consoleEnabled
  return `${publicUrlOf(deps)}/${isInConsole ? `console/${kind}#/${token}` : `pages/${kind}/${token}`}`
}

function addToken(page: string | null | undefined, token: string): string | undefined {
  const url = page ? URL.parse(page) : null
  if (!url) return undefined
  url.searchParams.set('token', token)
  return url.href
}

/** Returns the link builders of a sender. Asynchronous, because order links need a key. */
export async function createLinks(deps: OrderLinkDeps, shop: Readonly<Pick<Shop, 'name' | 'pages'>> | undefined): Promise<Links> {
  const orders = await deps.orderLinks.ready()
  const page = (kind: Exclude<PageKind, 'order'>) => (token: string) => mailPageUrl(deps, shop, kind, token)
  return {
    order: (orderId) => addToken(shop?.pages.order, orders.tokenOf(orderId)) ?? orders.urlOf(orderId),
    manage: (orderId) => (shop && deps.config.consoleEnabled ? `${publicUrlOf(deps)}/console/s/${shop.name}/orders/${orderId}` : undefined),
    pay: orders.payUrlOf,
    cart: page('cart'),
    unsubscribe: (token) => `${publicUrlOf(deps)}/pages/unsubscribe/${token}`,
    reset: page('reset'),
    verify: page('verify'),
    invitation: page('invitation'),
  }
}

/** Returns the appearance of a shop's or the instance's mails and pages. */
export function appearanceOf(deps: Pick<Deps, 'config' | 'life'>, sender: Sender, language?: string | null): Look {
  const { shop, settings } = sender ?? {}
  const spoken = language ?? settings?.language
  return {
    title: plainText(shop?.title ?? instanceName(deps), nameMax) || (shop?.name ?? 'souk'),
    logoUrl: shop?.logoUrl ?? null,
    accent: settings?.accentColour ?? defaultLook.accent,
    background: settings?.backgroundColour ?? defaultLook.background,
    words: phrasebookOf(spoken && isMailLanguage(spoken) ? spoken : defaultLanguage, shop?.country ?? ''),
  }
}

const instanceName = (deps: Pick<Deps, 'config' | 'life'>): string =>
  senderOf(deps.config.mailFrom ?? '')?.name ?? new URL(publicUrlOf(deps)).hostname

/** Returns the sender name of a shop's mails. */
export const shopSenderName = (
  deps: Pick<Deps, 'config' | 'life'>,
  { title, name }: Pick<Shop, 'title' | 'name'>,
  senderName?: string | null,
): string => senderNameOf(plainText(senderName ?? title, nameMax), name, instanceNames(deps))

/** Returns the names of the instance, which no shop may use. */
export const instanceNames = (deps: Pick<Deps, 'config' | 'life'>): string[] => [instanceName(deps), new URL(publicUrlOf(deps)).hostname]

/** Returns the appearance of a shop by id, or of the instance for null. */
export async function readAppearance(
  deps: ShopDeps,
  shopId: string | null,
  language?: string | null,
): Promise<{ look: Look; sender: Sender }> {
  const sender = shopId === null ? undefined : await senderOfShop(deps, shopId)
  return { look: appearanceOf(deps, sender, language), sender }
}

async function senderOfShop(deps: ShopDeps, shopId: string): Promise<NonNullable<Sender>> {
  const [shop, settings] = await Promise.all([readShop(deps, shopId), store.settings(deps.db.read, shopId)])
  return { shop, settings }
}

/**
 * Returns the shop's own texts for a mail. Invitations of a shop in test mode have none, because anyone may open a test
 * shop and invite strangers.
 */
async function readEditedTexts(
  deps: MailBaseDeps,
  { id: shopId, mode }: Readonly<Shop>,
  template: MailTemplate,
  language: MailLanguage,
): Promise<EditedTexts | undefined> {
  if (template === 'invitation' && mode === 'TEST' && !deps.config.mailTestShops) return undefined
  return store.texts(deps.db.read, { shopId, template, language })
}

/** Composes an outgoing mail; undefined if the address cannot receive mail. */
export async function composeMail(
  deps: MailBaseDeps,
  mail: Pick<Mail, 'id' | 'shopId' | 'language' | 'template' | 'createdAt'>,
  { to, data }: MailContent,
): Promise<OutgoingMail | undefined> {
  const { look, sender } = await readAppearance(deps, mail.shopId, mail.language)
  const from = senderOf(deps.config.mailFrom ?? '')
  if (!isMailAddress(to) || !from) return undefined
  const links = await createLinks(deps, sender?.shop)
  const template = mail.template as MailTemplate
  const edited = sender && (await readEditedTexts(deps, sender.shop, template, look.words.language))
  const replyTo = sender?.settings?.replyTo ?? sender?.shop.contact.email ?? undefined
  return {
    // Derived from the row, so that it is the same at every attempt.
    messageId: `${mail.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`,
    from: { name: sender ? shopSenderName(deps, sender.shop, sender.settings?.senderName) : from.name, address: from.address },
    to: storedMailAddress(to),
    replyTo: replyTo !== undefined && isMailAddress(replyTo) ? storedMailAddress(replyTo) : undefined,
    language: look.words.language,
    at: mail.createdAt,
    ...renderMail(template, data as never, look, links, edited),
  }
}
