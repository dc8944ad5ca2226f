import type { SendMailOptions } from 'nodemailer/lib/mailer'
import type { SMTPPoolOptions } from 'nodemailer/lib/smtp-pool'
import { MailNotTaken, type MailServer, type OutgoingMail } from '../core/mail-server.ts'
import { certificateProblem } from '../lib/certificates.ts'
import { needsSmtpUtf8 } from '../lib/mail-address.ts'
import { isThisMachine } from '../lib/processor-keys.ts'

type Tls = NonNullable<SMTPPoolOptions['tls']>
/** An error of the library, with the command and the server's response. */
type SmtpError = Error & { readonly code?: string; readonly command?: string; readonly responseCode?: number }

type SmtpOptions = {
  /** Additional trusted certificates and their server name, for tests. */
  readonly tls?: Pick<Tls, 'ca' | 'servername'>
  /** Whether the server runs on this machine; by default decided by its name. For tests. */
  readonly isHere?: boolean
}

/** Connections are reused for a short time and a limited number of mails, since servers end idle and long ones. */
const reuse = { maxMessages: 100, idleTimeout: 5_000 }
/** More than the slots of a process, so that no mail waits for a connection. */
const connectionsMax = 64
const connectMs = 20_000

/**
 * Opens the mail server of a URL. `smtps://` uses TLS from the start; `smtp://` requires STARTTLS unless the server is
 * on this machine or the URL has `?tls=off`.
 * Certificates must be valid. On this machine STARTTLS is used if offered, with any certificate, since mail servers
 * ship unsigned ones.
 */
export function openMailServer(smtpUrl: string, { tls = {}, isHere }: SmtpOptions = {}): MailServer {
  /** Signals of the mails whose transfer has begun: the server may have them. */
  const begun = new WeakSet<object>()
  /** Whether the server offers SMTPUTF8 (RFC 6531); undefined before the first connection. */
  let offersUtf8: boolean | undefined
  let opened: ReturnType<typeof openPool> | undefined

  function protectionOf(url: URL): SMTPPoolOptions {
    const isLocal = isHere ?? isThisMachine(url.hostname.toLowerCase())
    const secure = url.protocol === 'smtps:'
    if (secure) return { secure, tls: { ...tls, ...(isLocal ? { rejectUnauthorized: false } : {}) } }
    if (url.searchParams.get('tls') === 'off') return { ignoreTLS: true }
    return isLocal ? { opportunisticTLS: true, tls: { ...tls, rejectUnauthorized: false } } : { requireTLS: true, tls: { ...tls } }
  }

  /** The library tells only its log which extensions a server offers: one per line of the response to EHLO. */
  const readExtensions = (_: unknown, text: unknown) => {
    if (/^250-/.test(String(text))) offersUtf8 = /^250[ -]SMTPUTF8\b/im.test(String(text))
  }
  const ignore = () => undefined

  async function openPool() {
    const [{ default: Mailer }, { default: SMTPPool }] = await Promise.all([
      import('nodemailer/lib/mailer'),
      import('nodemailer/lib/smtp-pool'),
    ])
    const url = new URL(smtpUrl)
    const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    const pool = new SMTPPool({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      ...(user === '' ? {} : { auth: { user, pass }, forceAuth: true }),
      ...protectionOf(url),
      ...{ ...reuse, maxConnections: connectionsMax, connectionTimeout: connectMs, greetingTimeout: connectMs, dnsTimeout: connectMs },
      logger: { trace: ignore, debug: readExtensions, info: ignore, warn: ignore, error: ignore, fatal: ignore },
      transactionLog: true,
    })
    const mailer = new Mailer(pool)
    // Errors of idle connections concern no mail.
    mailer.on('error', ignore)
    mailer.use('stream', ({ data, message }, done) => {
      message.processFunc((input) => {
        begun.add(data.signal ?? {})
        return input
      })
      done()
    })
    return { mailer, pool }
  }

  /** @throws MailNotTaken after `withinMs`. The library does not notice a server that sends a byte now and then. */
  async function run(withinMs: number, work: (tools: Awaited<ReturnType<typeof openPool>>, signal: AbortSignal) => Promise<unknown>) {
    const signal = AbortSignal.timeout(withinMs)
    try {
      opened ??= openPool()
      const { promise: late, reject } = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => reject(signal.reason))
      await Promise.race([work(await opened, signal), late])
    } catch (error) {
      if (error instanceof MailNotTaken) throw error
      if (signal.aborted) throw new MailNotTaken(begun.has(signal) ? 'broken' : 'server', 'silent')
      throw begun.has(signal)
        ? sendFailure(error as SmtpError)
        : new MailNotTaken('server', connectFailureText(error as SmtpError, new URL(smtpUrl).hostname))
    }
  }

  return {
    send: (mail, withinMs) =>
      run(withinMs, async ({ mailer, pool }, signal) => {
        if ([mail.to, mail.from.address, mail.replyTo ?? ''].some(needsSmtpUtf8)) {
          if (offersUtf8 === undefined) await pool.verify()
          if (!offersUtf8) throw new MailNotTaken('refused', 'the address needs SMTPUTF8, which the mail server does not offer')
        }
        await mailer.sendMail({ ...messageOf(mail), signal })
      }),
    verify: (withinMs) => run(withinMs, ({ pool }) => pool.verify()),
    close: () => void opened?.then(({ pool }) => pool.close()),
  }
}

const messageOf = ({ messageId, from, to, replyTo, subject, text, html, language, at, unsubscribeUrl }: OutgoingMail): SendMailOptions => ({
  envelope: { from: from.address, to: [to] },
  from: { name: from.name ?? '', address: from.address },
  to: { name: '', address: to },
  ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
  ...{ subject, text, html, messageId: `<${messageId}>`, date: new Date(at) },
  // Prevents automatic replies (RFC 3834).
  headers: {
    'Auto-Submitted': 'auto-generated',
    'Content-Language': language,
    ...(unsubscribeUrl === undefined
      ? {}
      : { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
  },
  ...{ disableFileAccess: true, disableUrlAccess: true },
})

function connectFailureText(error: SmtpError, host: string): string {
  const untrusted = certificateProblem(error, host)
  if (untrusted !== undefined) return untrusted
  const { code, responseCode } = error
  const answered = responseCode === undefined ? '' : ` (${responseCode})`
  switch (code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return `refuses the login of SMTP_URL${answered}`
    case 'EDNS':
      return 'its name is not found'
    case 'ETLS':
      return `STARTTLS fails or is not offered${answered}`
    case 'ETIMEDOUT':
      return 'silent'
    default:
      return `cannot be reached${answered}`
  }
}

/** Classifies the failure of one mail. */
function sendFailure(error: SmtpError): MailNotTaken {
  const { command = 'CONN', responseCode: answered, code } = error
  const failWith = (failure: MailNotTaken['failure'], reason: string) => new MailNotTaken(failure, reason)
  // 421 may answer any command before the server closes the connection (RFC 5321, 3.8).
  if (answered === 421) return failWith('server', `421 at ${command}`)
  if (answered === undefined) {
    if (code === 'EENVELOPE' || code === 'EMESSAGE') return failWith('refused', `not sendable at ${command}`)
    return failWith('broken', code === 'ETIMEDOUT' ? 'silent' : 'the connection was lost')
  }
  const description = `${answered} at ${command}`
  // A refused sender affects all mails, but 552 concerns this mail's size.
  if (command === 'MAIL FROM') return failWith(answered === 552 ? 'refused' : 'server', description)
  return failWith(answered >= 500 ? 'refused' : 'later', description)
}
