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
    'The mail server that takes our mails: `smtp://[USER:PASSWORD@]HOST[:587]`, encrypted by STARTTLS, which is required but for this machine and with `?tls=off`; `smtps://…[:465]` by TLS. Unset: no mails are sent',
    (text) => {
      const url = URL.parse(text)
      const isOne = url && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname) && url.hash === ''
      const options = url ? [...url.searchParams] : []
      if (!url || !isOne || options.some(([name, value]) => name !== 'tls' || value !== 'off'))
        throw new Error('smtp://[USER:PASSWORD@]HOST[:PORT], with ?tls=off where that is wanted, or smtps:// for TLS')
      if (![url.username, url.password].every(isEncoded)) throw new Error('user and password with every % as %25')
      if (options.length > 0 && url.protocol === 'smtps:') throw new Error('smtp:// where it says ?tls=off')
      if (options.length > 0 && url.password !== '')
        throw new Error('without a password where it says ?tls=off: it would be sent in the clear')
      return text
    },
  ),
  MAIL_FROM: setting(
    'mailFrom',
    'text',
    undefined,
    'Whom our mails are from: `shop@example.com` or `Name <shop@example.com>`; the name is that of each shop where a shop sends. Needed with SMTP_URL',
    (text) => {
      if (!isSender(text)) throw new Error('an address such as shop@example.com, or Name <shop@example.com>')
      return text
    },
  ),
  MAIL_TEST_SHOPS: setting(
    'mailTestShops',
    'boolean',
    'false',
    'Whether shops in test mode may send mail to anybody; otherwise only to their own staff',
    boolean,
  ),
  MAIL_PER_SHOP_HOUR: quota('mailPerShopHour', '2000', 'Mails of a shop per hour. More are delayed'),
  MAIL_PER_SHOP_DAY: quota('mailPerShopDay', '20000', 'Mails of a shop within 24 hours. More are delayed'),
  MAIL_PER_RECIPIENT_HOUR: quota(
    'mailPerRecipientHour',
    '20',
    'Mails to one address within an hour, of all shops together; more wait, or are refused if somebody asked for them',
  ),
  MAIL_PER_RECIPIENT_DAY: quota('mailPerRecipientDay', '60', 'Mails to one address within 24 hours'),
  MAIL_PER_ADDRESS_HOUR: quota(
    'mailPerAddressHour',
    '20',
    'Mails that one network address (an IPv6 /64) may ask for within an hour: new passwords, proofs of an address, invitations; more are refused',
  ),
  MAIL_PER_ADDRESS_DAY: quota('mailPerAddressDay', '100', 'Mails that one network address may ask for within 24 hours'),
} as const
