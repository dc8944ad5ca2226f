import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import { MailNotTaken, type MailServer, type OutgoingMail } from '../core/mail-server.ts'
import { certificateProblem } from '../lib/certificates.ts'
import { needsSmtpUtf8 } from '../lib/mail-address.ts'
import { isThisMachine } from '../lib/processor-keys.ts'

type Connection = InstanceType<typeof import('nodemailer/lib/smtp-connection').default>
type Tls = NonNullable<SMTPConnectionOptions['tls']>
/** An error of the library, with the command and the server's response. */
type SmtpError = Error & { readonly code?: string; readonly command?: string; readonly responseCode?: number }

export type SmtpOptions = {
  /** Additional trusted certificates and their server name, for tests. */
  readonly tls?: Pick<Tls, 'ca' | 'servername'>
  /** Whether the server runs on this machine; by default decided by its name. For tests. */
  readonly isHere?: boolean
}

/** Connections are reused for a short time and a limited number of mails, since servers end idle and long ones. */
const idleMaxMs = 5_000
const mailsPerConnection = 100
const idleConnectionsMax = 4

const loadNodemailer = async () => {
  const [{ default: SMTPConnection }, { default: MailComposer }] = await Promise.all([
    import('nodemailer/lib/smtp-connection'),
    import('nodemailer/lib/mail-composer'),
  ])
  return { SMTPConnection, MailComposer }
}

/**
 * Opens the mail server of a URL. `smtps://` uses TLS from the start; `smtp://` requires STARTTLS unless the server is
 * on this machine or the URL has `?tls=off`.
 * Certificates must be valid. On this machine STARTTLS is used if offered, with any certificate, since mail servers
 * ship unsigned ones.
 */
export function openMailServer(smtpUrl: string, { tls = {}, isHere }: SmtpOptions = {}): MailServer {
  const idle: { connection: Connection; used: number; timer: Timer }[] = []
  /** Connections whose server offers SMTPUTF8 (RFC 6531). */
  const international = new WeakSet<Connection>()
  let closed = false

  function protectionOf(url: URL): SMTPConnectionOptions {
    const isLocal = isHere ?? isThisMachine(url.hostname.toLowerCase())
    const secure = url.protocol === 'smtps:'
    if (secure) return { secure, tls: { ...tls, ...(isLocal ? { rejectUnauthorized: false } : {}) } }
    if (url.searchParams.get('tls') === 'off') return { ignoreTLS: true }
    return isLocal ? { opportunisticTLS: true, tls: { ...tls, rejectUnauthorized: false } } : { requireTLS: true, tls: { ...tls } }
  }

  /** Opens and authenticates a connection. */
  async function connect(withinMs: number, attempt: Attempt): Promise<Connection> {
    const { SMTPConnection } = await loadNodemailer()
    if (attempt.isOver) throw new MailNotTaken('server', 'silent')
    const url = new URL(smtpUrl)
    const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    const connection = new SMTPConnection({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      ...protectionOf(url),
      connectionTimeout: withinMs,
      greetingTimeout: withinMs,
      dnsTimeout: withinMs,
      socketTimeout: withinMs,
      socketCloseTimeout: 1_000,
      logger: false,
    })
    // Some errors occur outside of calls.
    connection.on('error', () => undefined)
    attempt.end = () => connection.close()
    try {
      await callConnection(connection, (done) => connection.connect(done))
      // The response to EHLO lists one extension per line.
      if (/^250[ -]SMTPUTF8\b/im.test(connection.lastServerResponse || '')) international.add(connection)
      if (user !== '') await callConnection(connection, (done) => connection.login({ user, pass }, done))
      return connection
    } catch (error) {
      connection.close()
      throw new MailNotTaken('server', connectFailureText(error as SmtpError, url.hostname))
    }
  }

  /** Returns an idle connection that still responds, or a new one. */
  async function openedConnection(withinMs: number, attempt: Attempt): Promise<{ connection: Connection; used: number }> {
    for (let idleConnection = idle.pop(); idleConnection; idleConnection = idle.pop()) {
      const { connection, used, timer } = idleConnection
      clearTimeout(timer)
      attempt.end = () => connection.close()
      try {
        await callConnection(connection, (done) => connection.reset(done))
        return { connection, used }
      } catch {
        connection.close()
      }
    }
    return { connection: await connect(withinMs, attempt), used: 0 }
  }

  function returnConnection(connection: Connection, used: number): void {
    if (closed || used >= mailsPerConnection || idle.length >= idleConnectionsMax) {
      connection.quit()
      return
    }
    const end = () => {
      const index = idle.findIndex((entry) => entry.connection === connection)
      if (index >= 0) idle.splice(index, 1)
      connection.quit()
    }
    const timer = setTimeout(end, idleMaxMs)
    timer.unref()
    idle.push({ connection, used, timer })
  }

  return {
    send: (mail, withinMs) =>
      withTimeout(withinMs, async (attempt) => {
        const message = await composeMessage(mail)
        const { connection, used } = await openedConnection(withinMs, attempt)
        if ([mail.to, mail.from.address, mail.replyTo ?? ''].some(needsSmtpUtf8) && !international.has(connection)) {
          returnConnection(connection, used)
          throw new MailNotTaken('refused', 'the address needs SMTPUTF8, which the mail server does not offer')
        }
        attempt.isIn = true
        try {
          const envelope = { from: mail.from.address, to: [mail.to], size: message.length }
          await callConnection(connection, (done) => connection.send(envelope, message, done))
        } catch (error) {
          connection.close()
          throw sendFailure(error as SmtpError)
        }
        returnConnection(connection, used + 1)
      }),
    verify: (withinMs) =>
      withTimeout(withinMs, async (attempt) => {
        returnConnection(await connect(withinMs, attempt), 0)
      }),
    close() {
      closed = true
      for (const { connection, timer } of idle.splice(0)) {
        clearTimeout(timer)
        connection.quit()
      }
    },
  }
}

/** Wraps a call of the library, which reports some failures only as events. */
async function callConnection(connection: Connection, start: (done: (error?: Error | null) => void) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // A failed call reports its reason before this runs.
  const onClosed = () => setImmediate(() => reject(new Error('the connection was closed')))
  connection.on('error', reject)
  connection.once('end', onClosed)
  try {
    start((error) => (error ? reject(error) : resolve()))
    await promise
  } finally {
    connection.off('error', reject)
    connection.off('end', onClosed)
  }
}

/** A running attempt: how to end it, and whether a mail may have been sent. */
type Attempt = { end: () => void; isIn: boolean; isOver: boolean }

/** Applies a timeout. The library does not notice a server that sends a byte now and then. */
async function withTimeout(withinMs: number, run: (attempt: Attempt) => Promise<void>): Promise<void> {
  const attempt: Attempt = { end: () => {}, isIn: false, isOver: false }
  const { promise: late, reject } = Promise.withResolvers<never>()
  late.catch(() => undefined)
  const timer = setTimeout(() => {
    attempt.isOver = true
    reject(new MailNotTaken(attempt.isIn ? 'broken' : 'server', 'silent'))
    attempt.end()
  }, withinMs)
  try {
    const running = run(attempt)
    running.catch(() => undefined)
    await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Composes the complete message. */
async function composeMessage({ messageId, from, to, replyTo, subject, text, html, language, at }: OutgoingMail): Promise<Buffer> {
  const { MailComposer } = await loadNodemailer()
  const composer = new MailComposer({
    from: { name: from.name ?? '', address: from.address },
    to: { name: '', address: to },
    ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
    subject,
    text,
    html,
    messageId: `<${messageId}>`,
    date: new Date(at),
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': language },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

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
