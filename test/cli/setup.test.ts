import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, logIn, onTerminal, serve, souk, withFile } from './souk.ts'

const password = 'a password with spaces, ünïcode '
const login = { email: 'root@example.com', password }

describeProcesses('souk setup', () => {
  test('souk setup creates a super admin from standard input who can log in at once on the running server', async () => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    expect(await server.out.until(/souk setup --email/)).toBeString()
    const created = await souk(['setup', '--email', 'Root@Example.com'], dataDir, { stdin: `${password}\nsecond line` })
    expect(created).toEqual({ status: 0, stdout: 'Administrator root@example.com created. Log in at /console\n', stderr: '' })
    expect(await logIn(server, login)).toStartWith('ey')
  })

  test('souk setup works before the first start, and the server then does not ask for one', async () => {
    const dataDir = temporaryDir()
    const created = await souk(['setup', '--email', login.email], dataDir, { stdin: `${password}\r\n` })
    expect(created.status).toBe(0)
    await using server = await serve(dataDir)
    expect(await logIn(server, login)).toStartWith('ey')
    expect(server.out.text()).not.toContain('souk setup')
  })

  test('souk setup refuses a taken address and, without --another, a second super admin', async () => {
    const dataDir = temporaryDir()
    await souk(['setup', '--email', login.email], dataDir, { stdin: password })
    const sameAddress = await souk(['setup', '--email', login.email, '--another'], dataDir, { stdin: password })
    expect(sameAddress).toEqual({ status: 1, stdout: '', stderr: 'A user with this email already exists. Nothing was changed\n' })
    const second = await souk(['setup', '--email', 'other@example.com'], dataDir, { stdin: password })
    expect(second).toEqual({
      status: 1,
      stdout: '',
      stderr: 'An administrator already exists. Use `souk setup --another` to create a further one\n',
    })
    const another = await souk(['setup', '--email', 'other@example.com', '--another'], dataDir, { stdin: password })
    expect(another.status).toBe(0)
    const emails = withFile(join(dataDir, 'souk.db'), (file) =>
      file.query<{ email: string }, []>('SELECT email FROM users ORDER BY email').all(),
    )
    expect(emails).toEqual([{ email: 'other@example.com' }, { email: 'root@example.com' }])
  })

  test('souk serve prints a token with which a browser creates the first super admin, and no token afterwards', async () => {
    const dataDir = temporaryDir()
    const printed = /Set up your shop: (\S+\/console\/setup)#([\w-]{43})\n/
    {
      await using server = await serve(dataDir)
      expect(await server.out.until(printed)).toBeString()
      const [, page, token] = printed.exec(server.out.text()) ?? []
      expect(page).toBe(`${server.url}/console/setup`)
      const body = { token, email: login.email, password }
      const setUp = (headers: Record<string, string>) =>
        fetch(`${server.url}/console/setup`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
      expect((await setUp({ origin: 'http://evil.example' })).status).toBe(403)
      const created = await setUp({ origin: server.url })
      expect([created.status, created.headers.get('set-cookie')]).toEqual([
        201,
        expect.stringMatching(/^souk_console_\d+=[\w-]{43,}; Path=\/console\/session; Max-Age=7200; HttpOnly; SameSite=Strict$/),
      ])
      const [cookie = ''] = (created.headers.get('set-cookie') ?? '').split(';')
      const resumed = await fetch(`${server.url}/console/session`, { method: 'POST', headers: { origin: server.url, cookie } })
      expect([resumed.status, ((await resumed.json()) as { roles: string[] }).roles]).toEqual([200, ['SUPER_ADMIN']])
      expect((await setUp({ origin: server.url })).status).toBe(409)
      expect(await logIn(server, login)).toStartWith('ey')
      expect(server.log.text()).not.toContain(token ?? 'no token')
    }
    await using restarted = await serve(dataDir)
    expect(await logIn(restarted, login)).toStartWith('ey')
    expect(restarted.out.text()).not.toMatch(/setup/)
  })

  test('souk serve prints no token without a console, and uses PUBLIC_URL in the printed address', async () => {
    await using off = await serve(temporaryDir(), { CONSOLE_ENABLED: 'false' })
    expect(await off.out.until(/souk setup --email/)).toBeString()
    expect(off.out.text()).not.toMatch(/console/)
    await using on = await serve(temporaryDir(), { PUBLIC_URL: 'https://souk.example.com' })
    expect(await on.out.until(/Set up your shop: https:\/\/souk\.example\.com\/console\/setup#/)).toBeString()
  })

  test.each([
    ['', 'The password is missing: type it on a terminal, or pass it as the first line of standard input\n'],
    ['\npassword-on-the-second-line\n', 'The password is missing: type it on a terminal, or pass it as the first line of standard input\n'],
    ['nine char\n', 'The password must have 10 to 200 characters\n'],
    [`${'x'.repeat(201)}\n`, 'The password must have 10 to 200 characters\n'],
    ['Password123\n', 'The password is too common. Choose another one\n'],
  ])('souk setup refuses the password %j and creates no account', async (stdin, stderr) => {
    const dataDir = temporaryDir()
    expect(await souk(['setup', '--email', login.email], dataDir, { stdin })).toEqual({ status: 2, stdout: '', stderr })
    expect(withFile(join(dataDir, 'souk.db'), (file) => file.query('SELECT 1 FROM users').all())).toEqual([])
  })

  test('souk setup asks for the password twice on a terminal, and never shows it', async () => {
    const dataDir = temporaryDir()
    const args = ['setup', '--email', login.email]
    const mismatch = await onTerminal(args, dataDir, [
      ['password: ', 'password-of-root\r'],
      ['Repeat the password: ', 'password-of-roof\r'],
    ])
    expect(mismatch.status).toBe(2)
    expect(mismatch.screen).toContain("The entries don't match. Nothing was changed")
    const stopped = await onTerminal(args, dataDir, [['password: ', '\x03']])
    expect(stopped.status).toBe(130)
    const created = await onTerminal(args, dataDir, [
      ['password: ', 'password-of-rooX\x7ft\r'],
      ['Repeat the password: ', 'password-of-root\r'],
    ])
    expect(created).toEqual({
      status: 0,
      screen: 'password: \r\nRepeat the password: \r\nAdministrator root@example.com created. Log in at /console\r\n',
    })
    for (const { screen } of [mismatch, stopped]) expect(screen).not.toContain('password-of')
    await using server = await serve(dataDir)
    expect(await logIn(server, { email: login.email, password: 'password-of-root' })).toStartWith('ey')
  })

  test('souk setup creates only the database, its lock and the keys', async () => {
    const dataDir = temporaryDir()
    await souk(['setup', '--email', login.email], dataDir, { stdin: password })
    expect(
      readdirSync(dataDir)
        .filter((name) => !/-(wal|shm)$/.test(name))
        .sort(),
    ).toEqual(['keys.json', 'lock.db', 'souk.db'])
  })
})
