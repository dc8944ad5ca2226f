import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import { MailNotTaken, type MailServer, type OutgoingMail } from '../core/mail-server.ts'
import { certificateProblem } from '../lib/certificates.ts'
import { needsSmtpUtf8 } from '../lib/mail-address.ts'
import { isThisMachine } from '../lib/processor-keys.ts'

type Connection = InstanceType<typeof import('nodemailer/lib/smtp-connection').default>
type Tls = NonNullable<SMTPConnectionOptions['tls']>
/** An error of the library: the command that it came of, and what the server answered to it. */
type SmtpError = Error & { readonly code?: string; readonly command?: string; readonly responseCode?: number }

export type SmtpOptions = {
  /** Certificates that are believed besides, and whom they must name. For tests. */
  readonly tls?: Pick<Tls, 'ca' | 'servername'>
  /** Whether it runs on this machine; by its name, unless said. For tests. */
  readonly isHere?: boolean
}

/** A connection is used again so soon, and so often: servers end what idles, and what never ends. */
const idleMaxMs = 5_000
const mailsPerConnection = 100
const idleConnectionsMax = 4

const loaded = async () => {
  const [{ default: SMTPConnection }, { default: MailComposer }] = await Promise.all([
    import('nodemailer/lib/smtp-connection'),
    import('nodemailer/lib/mail-composer'),
  ])
  return { SMTPConnection, MailComposer }
}

/**
 * The mail server that a URL names: `smtps://` by TLS from the start; `smtp://` by STARTTLS, without which nothing is said, unless the
 * server runs on this machine or the URL says `?tls=off`. Certificates must be good. On this machine STARTTLS is taken where it is
 * offered, whoever signed the certificate: mail servers come with one that nobody did, and nothing leaves the machine.
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

  /** A connection that is let in. */
  async function connect(withinMs: number, attempt: Attempt): Promise<Connection> {
    const { SMTPConnection } = await loaded()
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
    // It says some things when nobody asks.
    connection.on('error', () => undefined)
    attempt.end = () => connection.close()
    try {
      await asked(connection, (done) => connection.connect(done))
      // The answer to EHLO: one line for each extension.
      if (/^250[ -]SMTPUTF8\b/im.test(connection.lastServerResponse || '')) international.add(connection)
      if (user !== '') await asked(connection, (done) => connection.login({ user, pass }, done))
      return connection
    } catch (error) {
      connection.close()
      throw new MailNotTaken('server', whyNotLetIn(error as SmtpError, url.hostname))
    }
  }

  /** One that was kept and still answers, or a new one. */
  async function ready(withinMs: number, attempt: Attempt): Promise<{ connection: Connection; used: number }> {
    for (let kept = idle.pop(); kept; kept = idle.pop()) {
      const { connection, used, timer } = kept
      clearTimeout(timer)
      attempt.end = () => connection.close()
      try {
        await asked(connection, (done) => connection.reset(done))
        return { connection, used }
      } catch {
        connection.close()
      }
    }
    return { connection: await connect(withinMs, attempt), used: 0 }
  }

  function keep(connection: Connection, used: number): void {
    if (closed || used >= mailsPerConnection || idle.length >= idleConnectionsMax) {
      connection.quit()
      return
    }
    const end = () => {
      const at = idle.findIndex((one) => one.connection === connection)
      if (at >= 0) idle.splice(at, 1)
      connection.quit()
    }
    const timer = setTimeout(end, idleMaxMs)
    timer.unref()
    idle.push({ connection, used, timer })
  }

  return {
    send: (mail, withinMs) =>
      inTime(withinMs, async (attempt) => {
        const message = await composed(mail)
        const { connection, used } = await ready(withinMs, attempt)
        if ([mail.to, mail.from.address, mail.replyTo ?? ''].some(needsSmtpUtf8) && !international.has(connection)) {
          keep(connection, used)
          throw new MailNotTaken('refused', 'the address needs SMTPUTF8, which the mail server does not offer')
        }
        attempt.isIn = true
        try {
          const envelope = { from: mail.from.address, to: [mail.to], size: message.length }
          await asked(connection, (done) => connection.send(envelope, message, done))
        } catch (error) {
          connection.close()
          throw notTaken(error as SmtpError)
        }
        keep(connection, used + 1)
      }),
    verify: (withinMs) =>
      inTime(withinMs, async (attempt) => {
        keep(await connect(withinMs, attempt), 0)
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

/** The library tells some failures by an event and not to whoever asked. */
async function asked(connection: Connection, ask: (done: (error?: Error | null) => void) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Whoever asked is told why, if anybody is: just after.
  const ended = () => setImmediate(() => reject(new Error('the connection was closed')))
  connection.on('error', reject)
  connection.once('end', ended)
  try {
    ask((error) => (error ? reject(error) : resolve()))
    await promise
  } finally {
    connection.off('error', reject)
    connection.off('end', ended)
  }
}

/** What is under way: what ends it from outside, and whether a mail may have left. */
type Attempt = { end: () => void; isIn: boolean; isOver: boolean }

/** Cuts what takes longer than it may: a server that says a byte now and then is not silent to the library. */
async function inTime(withinMs: number, run: (attempt: Attempt) => Promise<void>): Promise<void> {
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

/** The whole message, as it is sent. */
async function composed({ messageId, from, to, replyTo, subject, text, html, language, at }: OutgoingMail): Promise<Buffer> {
  const { MailComposer } = await loaded()
  const composer = new MailComposer({
    from: { name: from.name ?? '', address: from.address },
    to: { name: '', address: to },
    ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
    subject,
    text,
    html,
    messageId: `<${messageId}>`,
    date: new Date(at),
    // Nobody's holiday answer goes to a shop's machine (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': language },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

function whyNotLetIn(error: SmtpError, host: string): string {
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

/** What a server that let us in did with one mail. */
function notTaken(error: SmtpError): MailNotTaken {
  const { command = 'CONN', responseCode: answered, code } = error
  const say = (failure: MailNotTaken['failure'], words: string) => new MailNotTaken(failure, words)
  // It closes the connection, whatever it was asked (RFC 5321, 3.8).
  if (answered === 421) return say('server', `421 at ${command}`)
  if (answered === undefined) {
    if (code === 'EENVELOPE' || code === 'EMESSAGE') return say('refused', `not sendable at ${command}`)
    return say('broken', code === 'ETIMEDOUT' ? 'silent' : 'the connection was lost')
  }
  const words = `${answered} at ${command}`
  // Of the sender, who is the same for all mails; but for the size of this one.
  if (command === 'MAIL FROM') return say(answered === 552 ? 'refused' : 'server', words)
  return say(answered >= 500 ? 'refused' : 'later', words)
}
