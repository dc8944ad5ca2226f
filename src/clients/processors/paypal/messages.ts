/**
 * Verifies messages of PayPal by its API (`verify-webhook-signature`), one call for each message.
 *
 * Checking the certificate locally would be weaker. The signature covers only a CRC-32 of the body, so one genuine
 * message allows forged ones. The message names the certificate's URL, so a stranger would choose the called host.
 */
import { createHash } from 'node:crypto'
import { textAt } from '../answers.ts'
import type { CallAnswer } from '../call.ts'
import { BadSignature, type Processor, UnknownAnswer } from '../processor.ts'
import type { PaypalRequest } from './calls.ts'

type MessageVerification = {
  readonly webhookId: string
  readonly apiUrl: string
  readonly call: (request: PaypalRequest) => Promise<CallAnswer>
}

/** A sender waits for the response, and others for their turn. */
const verifyTimeoutMs = 10_000

/** The headers of a signature by PayPal's field names, and their formats. */
const signed = {
  auth_algo: ['paypal-auth-algo', /^SHA256withRSA$/],
  cert_url: ['paypal-cert-url', /^https?:\/\/[\w./?=&%:-]{1,500}$/],
  transmission_id: ['paypal-transmission-id', /^[\w-]{1,50}$/],
  transmission_sig: ['paypal-transmission-sig', /^[A-Za-z0-9+/=]{1,1000}$/],
  transmission_time: ['paypal-transmission-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/],
} as const

/**
 * Verifies a message by asking PayPal.
 * @returns a digest of the signed content, for messages without an id
 * @throws BadSignature; ProcessorUnavailable if PayPal could not be asked: it then sends the message again
 */
export async function verifyPaypalMessage(
  { body, headers, turn }: Parameters<Processor['readMessage']>[0],
  { webhookId, apiUrl, call }: MessageVerification,
): Promise<string> {
  if (webhookId.trim() === '') throw new BadSignature('paypal: no webhook id')
  const fields = Object.entries(signed).map(([field, [header, form]]): [string, string] => {
    const value = headers.get(header) ?? ''
    if (!form.test(value)) throw new BadSignature(`paypal: ${header}`)
    return [field, value]
  })
  if (!isPaypals(headers.get('paypal-cert-url') ?? '', apiUrl)) throw new BadSignature('paypal: a certificate of another issuer')
  // PayPal states no maximum age.
  if (Number.isNaN(Date.parse(headers.get('paypal-transmission-time') ?? ''))) throw new BadSignature('paypal: no valid time')
  const event = eventText(body)
  const fieldsJson = JSON.stringify({ ...Object.fromEntries(fields), webhook_id: webhookId })
  // The event as received: serialized again, its signature could fail.
  const text = `${fieldsJson.slice(0, -1)},"webhook_event":${event}}`
  const end = await turn?.()
  const answer = await call({
    method: 'POST',
    path: '/v1/notifications/verify-webhook-signature',
    text,
    timeoutMs: verifyTimeoutMs,
  }).finally(end)
  if (answer.status >= 400) throw new BadSignature('paypal: not understood')
  const status = textAt(answer.json, 'verification_status')
  if (status === 'FAILURE') throw new BadSignature('paypal')
  if (status !== 'SUCCESS') throw new UnknownAnswer('PayPal does not say whether the message is its own')
  return `sha256:${createHash('sha256').update(body).digest('hex')}`
}

/** Returns a body that is one JSON event, so that it cannot end the surrounding object. */
function eventText(body: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    const json: unknown = JSON.parse(text)
    if (!Array.isArray(json) && textAt(json, 'event_type') !== undefined) return text
  } catch {
    // Reported below.
  }
  throw new BadSignature('paypal: no event')
}

/** Returns whether a certificate's URL is PayPal's, or its stand-in's. */
function isPaypals(certUrl: string, apiUrl: string): boolean {
  const url = URL.parse(certUrl)
  return (
    url !== null && ((url.protocol === 'https:' && /(^|\.)paypal\.com$/.test(url.hostname)) || url.origin === URL.parse(apiUrl)?.origin)
  )
}
