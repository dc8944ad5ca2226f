/** Tests mail of the program: a password reset by mail, a kill between claim and response, and the commands. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { mailServer } from '../support/mail-server.ts'
import { describeProcesses, merchantLogin, serve, servedOnce, signUp, souk, withFile } from './souk.ts'

const { email } = merchantLogin
const resetRequest = { body: { email } }

describeProcesses('mail of a server process', () => {
  test('a merchant resets their password by the link in a mail, across a restart of the server', async () => {
    await using mails = await mailServer()
    const dataDir = temporaryDir()
    const settings = { ...mails.settings, PUBLIC_URL: '' }
    await using first = await serve(dataDir, settings)
    await signUp(first)
    expect((await first.call('POST', '/auth/password/forgot', resetRequest)).status).toBe(202)
    await mails.waitForMails(1)
    expect(await first.end('SIGTERM')).toBe(0)
    expect(first.log.text()).toContain('"event":"mail.links_lead_here"')
    const link = /http:\/\/\S+\/pages\/reset\/[\w-]{43}/.exec(mails.received[0]?.text ?? '')?.[0] ?? ''
    expect(link).toStartWith(first.url)
    await using restarted = await serve(dataDir, settings)
    const page = link.replace(first.url, restarted.url)
    expect(await (await fetch(page)).text()).toContain('<form method="post">')
    const submitted = await fetch(page, { method: 'POST', body: new URLSearchParams({ password: 'a password of tomorrow' }) })
    expect([submitted.status, (await submitted.text()).includes('Password saved')]).toEqual([200, true])
    expect((await restarted.call('POST', '/merchant/login', { body: { email, password: 'a password of tomorrow' } })).status).toBe(200)
    const token = link.split('/').at(-1) ?? ''
    expect(`${first.log.text()}${restarted.log.text()}`).not.toContain(token)
    expect(restarted.log.text()).toContain('/pages/reset/:token')
  })

  test('a mail whose response a killed server did not get is sent once more with the same Message-ID', async () => {
    let silent = true
    const firstAttempt = Promise.withResolvers<void>()
    const ids: (string | undefined)[] = []
    await using mails = await mailServer({
      onMail({ headers }) {
        ids.push(headers.get('message-id'))
        firstAttempt.resolve()
        return silent ? new Promise(() => undefined) : undefined
      },
    })
    const dataDir = temporaryDir()
    const first = await serve(dataDir, mails.settings)
    await signUp(first)
    await first.call('POST', '/auth/password/forgot', resetRequest)
    await firstAttempt.promise
    await first.end('SIGKILL')
    silent = false
    // The test does not wait 90 seconds until the claim expires.
    withFile(join(dataDir, 'souk.db'), (file) => file.run('UPDATE mails SET next_at = 0'))
    await using restarted = await serve(dataDir, mails.settings)
    await mails.waitForMails(1)
    expect(await restarted.end('SIGTERM')).toBe(0)
    expect(ids.length).toBe(2)
    expect(ids[0]).toBe(ids[1])
    withFile(join(dataDir, 'souk.db'), (file) => {
      expect(file.query('SELECT status, sealed, attempts FROM mails').all()).toEqual([{ status: 'SENT', sealed: null, attempts: 2 }])
    })
    expect((await souk(['check'], dataDir)).status).toBe(0)
  })

  test('souk mail reports the state of mail and sends a test, and reports a missing or failing mail server', async () => {
    await using mails = await mailServer()
    const { dataDir } = await servedOnce()
    const { settings } = mails
    expect(await souk(['mail', 'status'], dataDir)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('Email is not set up: set SMTP_URL'),
    })
    expect(await souk(['mail', 'status'], dataDir, { settings })).toMatchObject({ status: 0, stdout: 'The mail server accepts emails\n' })
    expect(await souk(['mail', 'test', '--to', 'me@example.com'], dataDir, { settings })).toEqual({
      status: 0,
      stdout: 'Test email sent\n',
      stderr: '',
    })
    expect(mails.received.map(({ to, headers }) => [to, headers.get('subject')])).toEqual([[['me@example.com'], 'Test email']])
    const unreachable = { ...settings, SMTP_URL: 'smtp://me:secret-of-mine@127.0.0.1:9' }
    const refused = await souk(['mail', 'test', '--to', 'me@example.com'], dataDir, { settings: unreachable })
    expect(refused).toMatchObject({ status: 1, stderr: 'The test email was not sent: cannot be reached\n' })
    for (const args of [
      ['mail', 'test'],
      ['mail', 'test', '--to', 'nobody'],
      ['mail', 'sent'],
    ])
      expect((await souk(args, dataDir, { settings })).status).not.toBe(0)
  })

  test('an SMTP_URL without MAIL_FROM stops the start with one sentence and no password', async () => {
    const dataDir = temporaryDir()
    const { status, stderr } = await souk(['serve'], dataDir, { settings: { SMTP_URL: 'smtp://u:p-of-mine@mail.example' } })
    expect([status, stderr.includes('MAIL_FROM must be set with SMTP_URL'), stderr.includes('p-of-mine')]).toEqual([1, true, false])
  })
})
