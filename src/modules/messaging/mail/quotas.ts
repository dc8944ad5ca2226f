/** Quotas and permissions of mails, checked when a mail is claimed for its first attempt. */
import type { Reader, Writer } from '../../../../db/engine.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/day.ts'
import { type Mail, type MailContent, type MailTemplate, mailSeal, mailTemplates } from './domain.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { type QuotaSubject, mailStore as store } from './store.ts'

type QuotaDeps = Pick<MailBaseDeps, 'db' | 'clock' | 'config' | 'keyring' | 'log' | 'mailCounts'>
/**
 * The decision about a mail. A refused one is finished. A delayed one waits until `until`; with `lane`, so do all due
 * mails of its lane. An exempt one does not count towards the recipient's quota.
 */
type QuotaDecision =
  | { readonly is: 'sent'; readonly isExempt?: boolean }
  | { readonly is: 'refused'; readonly why: string }
  | { readonly is: 'delayed'; readonly why: string; readonly until: number; readonly lane: boolean }

const limitsOf = ({ config }: Pick<MailBaseDeps, 'config'>) => ({
  shop: { hour: config.mailPerShopHour, day: config.mailPerShopDay },
  recipient: { hour: config.mailPerRecipientHour, day: config.mailPerRecipientDay },
  cause: { hour: config.mailPerAddressHour, day: config.mailPerAddressDay },
})
const quotaNames = { shop: 'shop', recipient: 'recipient', cause: 'network address' } as const

/** Returns when one more mail is within the quota; undefined: now. */
async function nextFreeAt(tx: Pick<Reader, 'rows'>, deps: QuotaDeps, by: QuotaSubject, value: string | null): Promise<number | undefined> {
  if (value === null) return undefined
  const now = deps.clock.now()
  const { hour, day } = limitsOf(deps)[by]
  const windows = [
    { most: hour, ms: hourMs },
    { most: day, ms: dayMs },
  ]
  let free: number | undefined
  for (const { most, ms } of windows) {
    const { count, oldestAt } = await store.counted(tx, by, value, now - ms, most)
    if (count >= most) free = Math.max(free ?? now + minuteMs, (oldestAt ?? now) + ms)
  }
  return free
}

async function decideOn(tx: Writer, deps: QuotaDeps, mail: Mail): Promise<QuotaDecision> {
  const { shopId, sealed, template, recipient, cause } = mail
  const { to }: Pick<MailContent, 'to'> = sealed === null ? { to: '' } : JSON.parse(deps.keyring.unseal(sealed, mailSeal(mail.id)))
  const shop = shopId === null ? undefined : await store.sender(tx, shopId, to)
  const isStaff = shop?.isStaff === true
  const isInvited = template === 'invitation' && shop?.isInvited === true
  if (shop?.status === 'SUSPENDED') return { is: 'refused', why: 'the shop is suspended' }
  if (shop?.mode === 'TEST' && !isStaff && !isInvited && !deps.config.mailTestShops)
    return { is: 'refused', why: 'a shop in test mode sends mail to its own staff only' }
  // The mail was counted at its first attempt.
  if (mail.countedAt !== null) return { is: 'sent' }
  // Mails about new orders to the staff of a live shop count only towards the shop's quota.
  const isExempt = template === 'new_order' && isStaff && shop?.mode === 'LIVE'
  const quotas: readonly [QuotaSubject, string | null][] = [
    ['shop', shopId],
    // Staff count too, because anyone may sign up with another person's address. Password resets have their own limit
    // (5 an hour per account), so that other mails cannot lock the owner out.
    ['recipient', template === 'password-reset' || isExempt ? null : recipient],
    ['cause', cause],
  ]
  for (const [by, value] of quotas) {
    const until = await nextFreeAt(tx, deps, by, value)
    if (until === undefined) continue
    const why = `over the quota of the ${quotaNames[by]}`
    const isAwaited = mailTemplates[template as MailTemplate].isAwaited
    if (by === 'shop') return { is: 'delayed', why, until, lane: true }
    return isAwaited ? { is: 'refused', why } : { is: 'delayed', why, until, lane: false }
  }
  return { is: 'sent', isExempt }
}

/**
 * Claims due mails until `until`. Mails that may not be sent are refused or delayed.
 * @returns the claimed mails, and the number refused or delayed
 */
export async function claimAllowed(
  tx: Writer,
  deps: QuotaDeps,
  ids: readonly string[],
  until: number,
): Promise<{ claimed: Mail[]; held: number }> {
  const { clock, log, mailCounts } = deps
  const now = clock.now()
  const due = await store.due(tx, ids, now)
  store.hold(
    tx,
    due.flatMap(({ shopId, recipient, cause }) => [shopId, recipient, cause].flatMap((name) => (name === null ? [] : [`mail ${name}`]))),
  )
  const allowed: string[] = []
  for (const mail of due) {
    const verdict = await decideOn(tx, deps, mail)
    if (verdict.is === 'sent') {
      if (mail.countedAt === null) await store.count(tx, mail.id, now, verdict.isExempt)
      allowed.push(mail.id)
      continue
    }
    const { is, why } = verdict
    const mails = is === 'refused' ? await store.refuse(tx, mail.id, why, now) : await store.delay(tx, mail, { ...verdict, now })
    tx.afterCommit(() => {
      mailCounts.add(is, mails)
      log.warn(is === 'refused' ? 'mail.refused' : 'mail.delayed', { mail: mail.id, template: mail.template, shop: mail.shopId, why })
    })
  }
  return { claimed: await store.claim(tx, allowed, now, until), held: due.length - allowed.length }
}

/** Returns how much mail a shop has sent and may send. */
export async function shopUsage(deps: Pick<MailBaseDeps, 'db' | 'clock' | 'config'>, shop: { readonly id: string; readonly mode: string }) {
  const { read } = deps.db
  const now = deps.clock.now()
  const { hour, day } = limitsOf(deps).shop
  const [lastHour, lastDay, held] = await Promise.all([
    store.counted(read, 'shop', shop.id, now - hourMs, hour),
    store.counted(read, 'shop', shop.id, now - dayMs, day),
    store.countHeld(read, shop.id, now - dayMs),
  ])
  return {
    perHour: hour,
    perDay: day,
    sentLastHour: lastHour.count,
    sentLastDay: lastDay.count,
    ...held,
    onlyStaff: shop.mode === 'TEST' && !deps.config.mailTestShops,
  }
}
