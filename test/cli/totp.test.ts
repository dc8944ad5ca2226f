import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { codeAt } from '../support/totp.ts'
import { describeProcesses, merchantLogin, serve, signUp, souk, withFile } from './souk.ts'

describeProcesses('souk totp', () => {
  test('souk totp remove lets a merchant log in by password alone, which reset-password does not', async () => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    const { token } = await signUp(server)
    const { secret } = (await server.call('POST', '/auth/totp', { token, body: { password: merchantLogin.password } })).body
    const confirmed = await server.call('POST', '/auth/totp/confirm', { token, body: { code: codeAt(secret, Date.now()) } })
    expect([confirmed.status, confirmed.body.recoveryCodes.length]).toEqual([200, 10])
    const logIn = (password: string) => server.call('POST', '/merchant/login', { body: { ...merchantLogin, password } })
    expect((await logIn(merchantLogin.password)).body.error).toBe('TOTP_REQUIRED')
    const password = 'a new long password'
    expect((await souk(['reset-password', '--email', merchantLogin.email], dataDir, { stdin: password })).status).toBe(0)
    expect((await logIn(password)).body.error).toBe('TOTP_REQUIRED')
    const remove = () => souk(['totp', 'remove', '--email', merchantLogin.email.toUpperCase()], dataDir)
    expect(await remove()).toEqual({
      status: 0,
      stdout: 'Two-factor authentication removed for merchant@example.com.\n',
      stderr: '',
    })
    expect((await logIn(password)).status).toBe(200)
    expect(await remove()).toEqual({
      status: 1,
      stdout: '',
      stderr: 'No user with this email uses two-factor authentication. Nothing was changed\n',
    })
    const auditRows = withFile(join(dataDir, 'souk.db'), (file) =>
      file.query<{ actor: string }, []>("SELECT actor FROM audit_log WHERE action = 'totp.removed'").all(),
    )
    expect(auditRows).toEqual([{ actor: 'system' }])
  })

  test('souk totp explains its usage', async () => {
    const dataDir = temporaryDir()
    const refused = (stderr: string) => ({ status: 2, stdout: '', stderr })
    expect(await souk(['totp', 'add', '--email', 'a@example.com'], dataDir)).toEqual(
      refused('Unknown argument "add". Use `souk totp remove`.\n'),
    )
    expect(await souk(['totp', 'remove'], dataDir)).toEqual(refused('--email is missing. Run `souk totp remove --email you@example.com`\n'))
  })
})
