import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, logIn, merchantLogin, serve, signUp, souk, withFile } from './souk.ts'

const newPassword = 'a new password, ünïcode '

describeProcesses('souk reset-password', () => {
  test('souk reset-password sets a new password beside a running server, ends sessions and is audited', async () => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    const { token } = await signUp(server)
    const reset = await souk(['reset-password', '--email', 'Merchant@Example.com'], dataDir, { stdin: `${newPassword}\nsecond line` })
    expect(reset).toEqual({
      status: 0,
      stdout: 'merchant@example.com has the new password, and is logged out everywhere.\n',
      stderr: '',
    })
    expect((await server.call('GET', '/merchant/me', { token })).status).toBe(401)
    expect((await server.call('POST', '/merchant/login', { body: merchantLogin })).status).toBe(401)
    expect(await logIn(server, { email: merchantLogin.email, password: newPassword })).toStartWith('ey')
    const auditRows = withFile(join(dataDir, 'souk.db'), (file) =>
      file
        .query<{ actor: string; same: number }, []>(
          "SELECT actor, subject = (SELECT id FROM users) AS same FROM audit_log WHERE action = 'password.reset'",
        )
        .all(),
    )
    expect(auditRows).toEqual([{ actor: 'system', same: 1 }])
  })

  test('souk reset-password refuses an unknown address and an invalid password', async () => {
    const dataDir = temporaryDir()
    await souk(['setup', '--email', 'root@example.com'], dataDir, { stdin: 'password-of-root' })
    const reset = (email: string, stdin: string) => souk(['reset-password', '--email', email], dataDir, { stdin })
    expect(await reset('nobody@example.com', newPassword)).toEqual({
      status: 1,
      stdout: '',
      stderr: 'No user has this email. Nothing was changed\n',
    })
    expect(await reset('root@example.com', 'short')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'The password must have 10 to 200 characters\n',
    })
    expect((await reset('root@example.com', 'password123')).stderr).toBe('The password is too common. Choose another one\n')
    expect(await souk(['reset-password'], dataDir)).toEqual({
      status: 2,
      stdout: '',
      stderr: '--email is missing. Run `souk reset-password --email you@example.com`\n',
    })
    await using server = await serve(dataDir)
    expect(await logIn(server, { email: 'root@example.com', password: 'password-of-root' })).toStartWith('ey')
  })
})
