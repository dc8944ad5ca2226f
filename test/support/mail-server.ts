/** A real SMTP server on loopback that can refuse, delay or ignore mails. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { type ReadMail, readMail } from './mime.ts'
import { certificate, key } from './tls.ts'

export type Received = ReadMail & { readonly to: readonly string[]; readonly from: string; readonly secure: boolean }

/** Creates the error with which the server refuses a command. */
export const smtpError = (code: number, text = 'no'): Error => Object.assign(new Error(text), { responseCode: code })

export type MailServerOptions = Partial<SMTPServerOptions> & {
  /** Runs before a mail is accepted; an error that it throws refuses the mail. */
  readonly onMail?: (mail: Received) => Promise<void> | void
}

/** Settings without mail quotas, for shops in test mode. */
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
  const notifyWaiting = () => {
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
        notifyWaiting()
      })
    },
    ...options,
  })
  server.on('error', (error) => errors.push(error))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const serverSettings = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Souk <shop@souk.example>', PUBLIC_URL: 'https://souk.example' }
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    /** Settings of an app that sends to this server, without quotas. */
    settings: { ...unlimited, ...serverSettings },
    /** The same settings with the default quotas. */
    limitedSettings: serverSettings,
    received,
    errors,
    connections: () => connections,
    /** Waits until `count` mails were accepted. */
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

/** A TCP server that violates the protocol. @param talk handles each connection */
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
