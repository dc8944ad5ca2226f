import { addJitter } from '../../../lib/random.ts'
import { afterAttempt, type Outcome } from '../../messaging/webhook/domain.ts'

/** Concurrent attempts, in total and per platform, so that a slow platform does not delay the others. */
export const slotsMax = { all: 16, platform: 4 } as const
/** Longer than an attempt takes, with the fetch of the profile. */
export const leaseMs = 60_000
export const sendLimits = { timeoutMs: 10_000, bytesMax: 64 * 1024 } as const
const firstPauseMs = 2_000

/**
 * Returns a message's state after an attempt. The first retry follows after two seconds, the others as for webhooks.
 * @param outcome undefined: the profile names no URL for messages
 * @param attempts including this one
 * @param chance from 0 to 1
 */
export function afterOrderMessage(outcome: Outcome | undefined, attempts: number, now: number, chance: number) {
  if (!outcome) return { status: 'FAILED', nextAt: now } as const
  const { status, nextAt } = afterAttempt(outcome, Math.max(1, attempts - 1), now, chance)
  return { status, nextAt: status === 'PENDING' && attempts === 1 ? now + addJitter(firstPauseMs, chance) : nextAt }
}

/** The platform of an attempt. */
export type MessageSlot = { readonly profile: string }
/** Returns whether a platform may start another attempt while others are in flight. */
export const hasSlot = ({ profile }: MessageSlot, taken: readonly MessageSlot[]): boolean =>
  taken.length < slotsMax.all && taken.filter((slot) => slot.profile === profile).length < slotsMax.platform

/** Returns the order of an outbox message. */
export function orderIdOf({ event, body }: { readonly event: string; readonly body: string }): string | undefined {
  if (!event.startsWith('order.')) return undefined
  const { data }: { data?: { orderId?: string } } = JSON.parse(body)
  return data?.orderId
}

/** Formats random bytes as a UUID of version 4. @param bytes 16 */
export function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  const variant = '89ab'.charAt((bytes[8] ?? 0) % 4)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
