/** Small things that many screens show. */
import type { ComponentChildren } from 'preact'
import { type Money as Amount, ago, moment, money, percentChange } from '../lib/format/format.ts'
import { passing } from '../lib/format/server-clock.ts'
import { common, stateName } from '../lib/i18n/common.ts'
import { notify } from '../lib/live/toasts.ts'
import { Button } from './button.tsx'

type Tone = 'good' | 'warn' | 'bad' | 'info' | 'plain'

const tones: Readonly<Record<string, Tone>> = {
  ACTIVE: 'good',
  PUBLISHED: 'good',
  PAID: 'good',
  CONFIRMED: 'info',
  FULFILLED: 'good',
  COMPLETED: 'good',
  CAPTURED: 'good',
  SUCCEEDED: 'good',
  APPROVED: 'good',
  DELIVERED: 'good',
  LIVE: 'good',
  KYB_VERIFIED: 'good',
  WON: 'good',
  OK: 'good',
  PENDING_PAYMENT: 'warn',
  PENDING: 'warn',
  PROCESSING: 'warn',
  REQUIRES_ACTION: 'warn',
  CLAIMABLE: 'warn',
  MANUAL: 'bad',
  COMPENSATING: 'warn',
  PARTIALLY_FULFILLED: 'warn',
  UNFULFILLED: 'info',
  INVITED: 'info',
  SUBMITTED: 'info',
  UNDER_REVIEW: 'warn',
  TEST: 'warn',
  PENDING_KYB: 'warn',
  PENDING_REVIEW: 'warn',
  REVOKED: 'bad',
  FAILED: 'bad',
  REJECTED: 'bad',
  LOST: 'bad',
  SUSPENDED: 'bad',
  OPEN: 'warn',
}

/** A state of the API in a word and a colour. @param text where the word is another than the state's */
export const State = ({ of, text, tone = tones[of] ?? 'plain' }: { of: string; text?: string; tone?: Tone }) => (
  <span class={`state ${tone}`}>{text ?? stateName(of)}</span>
)

type OrderStates = { readonly status: string; readonly fulfilmentStatus: string; readonly fulfilments?: readonly unknown[] | undefined }

/** Shows the state of an order. An order that is FULFILLED without a parcel was refunded before anything was sent. */
export function OrderState({ of: { status, fulfilmentStatus, fulfilments } }: { of: OrderStates }) {
  if (status === 'FULFILLED' && fulfilments?.length === 0) return <State of={status} text={common('nothingSent')} tone="plain" />
  return <State of={status === 'CONFIRMED' && fulfilmentStatus === 'PARTIALLY_FULFILLED' ? fulfilmentStatus : status} />
}

/** An amount, with its minor units for programs that read the page. */
export const Money = ({ of }: { of: Amount }) => <data value={of.amount}>{money(of)}</data>

/** A moment; the exact one where one points at it. @param short how long ago */
export function When({ at, short }: { at: string; short?: boolean }) {
  // Read, so that it is drawn anew as time goes by.
  if (short) void passing().value
  return (
    <time dateTime={at} title={moment(at)}>
      {short ? ago(at) : moment(at)}
    </time>
  )
}

/** By how much something is more than it was before, as a part of one. */
export const Change = ({ of }: { of: number | null | undefined }) =>
  of == null ? null : (
    <span class={of >= 0 ? 'change up' : 'change down'}>
      <bdi>{percentChange(of)}</bdi>
    </span>
  )

/** A figure under its name, with how it was before. @param note what it is made of */
export function Figure({
  name,
  value,
  before,
  change,
  href,
  note,
}: {
  name: string
  value: ComponentChildren
  before?: string
  change?: number | null
  href?: string
  note?: string
}) {
  const inner = (
    <>
      <span class="figure-name">{name}</span>
      <strong>{value}</strong>
      <Change of={change} />
      {before !== undefined && <small class="faint">{common('previousPeriod', { value: before })}</small>}
      {note && <small class="faint">{note}</small>}
    </>
  )
  return href ? (
    <a class="figure" href={href}>
      {inner}
    </a>
  ) : (
    <div class="figure">{inner}</div>
  )
}

/** Names and what they are, one under the other. */
export const Facts = ({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value == null || value === false || value === '' ? '–' : value}</dd>
      </div>
    ))}
  </dl>
)

/** A text that somebody takes along, such as a key. @param label what it is, for the button */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <span class="copyable">
      <code>{text}</code>
      <Button kind="quiet" icon="copy" label={`${common('copy')}: ${label}`} onPress={() => copy(text)} />
    </span>
  )
}

/** Puts a text where it can be pasted from. @throws Error where the browser lets nobody */
export async function copy(text: string): Promise<void> {
  // Not there without a secure context.
  if (navigator.clipboard) await navigator.clipboard.writeText(text)
  else {
    const before = document.activeElement
    const area = document.createElement('textarea')
    area.value = text
    // A window over the page lets nothing outside of it be selected.
    const within = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
    within.append(area)
    area.select()
    const isCopied = document.execCommand('copy')
    area.remove()
    if (before instanceof HTMLElement) before.focus()
    if (!isCopied) throw new Error(common('notCopied'))
  }
  notify(common('copied'))
}

/** Since when an answer holds, and where it is an old one, that it is. */
export const AsOf = ({ at, stale }: { at: string; stale?: boolean }) =>
  stale ? <Note tone="warn">{common('stale', { at: moment(at) })}</Note> : <p class="hint">{common('asOf', { at: moment(at) })}</p>

/** Says something beside what is done. */
export const Note = ({ tone = 'info', children }: { tone?: 'info' | 'warn' | 'bad' | 'good'; children: ComponentChildren }) => (
  <div class={`note ${tone}`}>{children}</div>
)

/** Pages beside each other, each with its address. */
export const Tabs = ({ label, of }: { label: string; of: readonly { href: string; text: string; current: boolean }[] }) => (
  <nav class="tabs" aria-label={label}>
    {of.map(({ href, text, current }) => (
      <a key={href} href={href} aria-current={current ? 'page' : undefined}>
        {text}
      </a>
    ))}
  </nav>
)
