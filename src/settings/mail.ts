/** Outgoing mail. */
import { isSender } from '../lib/mail-address.ts'
import { boolean, integer, secret, setting } from './kinds.ts'

/** Returns whether a part of a URL can be decoded; otherwise every mail would fail. */
function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const quota = <Field extends string>(field: Field, byDefault: string, meaning: string) =>
  setting(field, 'integer', byDefault, meaning, integer(1, 10_000_000))

export const mail = {
  SMTP_URL: secret(
    'smtpUrl',
    'URL',
    'Mail server: `smtp://[USER:PASSWORD@]HOST[:587]` with STARTTLS (required, except on this machine or with `?tls=off`), or `smtps://…[:465]` with TLS. Default: no emails are sent',
    (text) => {
      const url = URL.parse(text)
      const isOne = url && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname) && url.hash === ''
      const options = url ? [...url.searchParams] : []
      if (!url || !isOne || options.some(([name, value]) => name !== 'tls' || value !== 'off'))
        throw new Error('smtp://[USER:PASSWORD@]HOST[:PORT], optionally with ?tls=off, or smtps:// for TLS')
      if (![url.username, url.password].every(isEncoded)) throw new Error('user and password with each % written as %25')
      if (options.length > 0 && url.protocol === 'smtps:') throw new Error('smtp:// with ?tls=off')
      if (options.length > 0 && url.password !== '') throw new Error('without a password with ?tls=off: it would be sent unencrypted')
      return text
    },
  ),
  MAIL_FROM: setting(
    'mailFrom',
    'text',
    undefined,
    'Sender: `shop@example.com` or `Name <shop@example.com>`. Emails of a shop use the shop’s name. Required with SMTP_URL',
    (text) => {
      if (!isSender(text)) throw new Error('an address such as shop@example.com, or Name <shop@example.com>')
      return text
    },
  ),
  MAIL_TEST_SHOPS: setting(
    'mailTestShops',
    'boolean',
    'false',
    'Let shops in test mode send emails to anyone; otherwise only to their own staff',
    boolean,
  ),
  MAIL_PER_SHOP_HOUR: quota('mailPerShopHour', '2000', 'Emails per shop and hour; more are delayed'),
  MAIL_PER_SHOP_DAY: quota('mailPerShopDay', '20000', 'Emails per shop in 24 hours; more are delayed'),
  MAIL_PER_RECIPIENT_HOUR: quota(
    'mailPerRecipientHour',
    '20',
    'Emails per recipient and hour from all shops. More are delayed, or rejected if they were requested',
  ),
  MAIL_PER_RECIPIENT_DAY: quota('mailPerRecipientDay', '60', 'Emails per recipient in 24 hours'),
  MAIL_PER_ADDRESS_HOUR: quota(
    'mailPerAddressHour',
    '20',
    'Emails that one network address (IPv6: /64) may request per hour: password resets, verifications, invitations; and as many about its unpaid orders. More are rejected, or delayed if they are about orders',
  ),
  MAIL_PER_ADDRESS_DAY: quota('mailPerAddressDay', '100', 'Emails that one network address may request in 24 hours'),
} as const
