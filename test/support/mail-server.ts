/** A real mail server on the loopback, which may be told to refuse, to be slow and to be silent. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { type ReadMail, readMail } from './mime.ts'
import { certificate, key } from './tls.ts'

export type Received = ReadMail & { readonly to: readonly string[]; readonly from: string; readonly secure: boolean }

/** An answer of the server that is no success. */
export const smtpError = (code: number, text = 'no'): Error => Object.assign(new Error(text), { responseCode: code })

export type MailServerOptions = Partial<SMTPServerOptions> & {
  /** Called before a mail is taken; what it throws is the answer. */
  readonly onMail?: (mail: Received) => Promise<void> | void
}

/** Shops under test are in test mode, and mail many strangers. */
const unlimited = {
  MAIL_TEST_SHOPS: 'true',
  MAIL_PER_RECIPIENT_HOUR: '100000',
  MAIL_PER_RECIPIENT_DAY: '100000',
  MAIL_PER_ADDRESS_HOUR: '100000',
  MAIL_PER_ADDRESS_DAY: '100000',
}

export async function mailServer({ onMail, ...options }: MailServerOptions = {}) {
  const received: Received[] = []
  const errors: unknown[] = []
  let connections = 0
  const waiting = new Set<() => void>()
  const tell = () => {
    for (const look of [...waiting]) look()
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    key,
    cert: certificate,
    logger: false,
    onConnect(_session, done) {
      connections++
      done()
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        try {
          const { mailFrom, rcptTo } = session.envelope
          const mail = {
            ...readMail(Buffer.concat(chunks)),
            to: rcptTo.map(({ address }) => address),
            from: mailFrom === false ? '' : mailFrom.address,
            secure: session.secure,
          }
          await onMail?.(mail)
          received.push(mail)
          done()
        } catch (error) {
          errors.push(error)
          done(error as Error)
        }
        tell()
      })
    },
    ...options,
  })
  server.on('error', (error) => errors.push(error))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const own = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Souk <shop@souk.example>', PUBLIC_URL: 'https://souk.example' }
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    /** For the settings of an app. */
    settings: { ...unlimited, ...own },
    /** The same with the default quotas. */
    limitedSettings: own,
    received,
    errors,
    connections: () => connections,
    /** Resolves once so many mails were taken. */
    async waitForMails(count: number): Promise<void> {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          const look = () => {
            waiting.delete(look)
            resolve()
          }
          waiting.add(look)
        })
      }
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** A server that speaks for itself: whatever a mail server must not do. @param talk what is done with each connection */
export async function rawMailServer(talk: (socket: Socket) => void) {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
    talk(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    settings: { ...unlimited, SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'shop@souk.example', PUBLIC_URL: 'https://souk.example' },
    [Symbol.dispose]() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}
