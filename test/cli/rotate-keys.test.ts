import { expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { keyVersionOf, masterKey, seal } from '../../src/lib/seal.ts'
import { answerSeal } from '../../src/modules/operations/idempotency/domain.ts'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, logIn, pause, privateKeyOf, serve, servedOnce, signUp, souk, startCommand, withFile } from './souk.ts'

const oldSecret = 'an-old-encryption-key-of-the-tests-0'
const newSecret = 'a-new-encryption-key-of-the-tests-00'

const keysIn = (dataDir: string): { jwt: string[]; encryption: string[]; integrationApiKey: string; registered?: boolean } =>
  JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8'))
const versionOf = (secret: string | undefined) => masterKey(secret ?? '', 'encryption').version
const registered = (dataDir: string) =>
  withFile(join(dataDir, 'souk.db'), (file) =>
    file
      .query<{ version: string; retired: number }, []>(
        'SELECT version, retired_at IS NOT NULL AS retired FROM encryption_keys ORDER BY created_at',
      )
      .all(),
  )
const versionsOfSeals = (dataDir: string) =>
  withFile(join(dataDir, 'souk.db'), (file) => {
    const rows = file
      .query<{ sealed: string }, []>(
        'SELECT sealed FROM api_keys WHERE sealed IS NOT NULL UNION ALL SELECT sealed_answer FROM idempotency_keys WHERE sealed_answer IS NOT NULL',
      )
      .all()
    return Map.groupBy(
      rows.map(({ sealed }) => keyVersionOf(sealed)),
      (version) => version,
    )
  })

/** Inserts so many stored responses that resealing them takes a while. */
function insertResponses(dataDir: string, count: number): void {
  const key = masterKey(keysIn(dataDir).encryption[0] ?? '', 'encryption')
  withFile(join(dataDir, 'souk.db'), (file) => {
    const insert = file.prepare(
      "INSERT INTO idempotency_keys (scope, key, fingerprint, attempt, lease_until, expires_at, sealed_answer) VALUES ('s', ?, 'f', 'a', 0, 9999999999999, ?)",
    )
    file.transaction(() => {
      for (let at = 0; at < count; at++)
        insert.run(String(at), seal(key, `answer ${at}`, answerSeal('s', String(at)), crypto.getRandomValues(new Uint8Array(12))))
    })()
  })
}

/** Kills a rotation after it resealed some secrets. Retries with more secrets if the rotation was faster. */
async function killRotation() {
  for (let answers = 3_000; ; answers *= 2) {
    const { dataDir, privateKey } = await servedOnce()
    const server = await serve(dataDir)
    const token = await logIn(server)
    insertResponses(dataDir, answers)
    const [old] = keysIn(dataDir).encryption
    const command = startCommand(['rotate-keys'], dataDir)
    while (command.exitCode === null && versionsOfSeals(dataDir).size < 2) await pause()
    command.kill('SIGKILL')
    await command.exited
    if (command.signalCode === 'SIGKILL' && versionsOfSeals(dataDir).size === 2) return { dataDir, privateKey, server, token, old }
    await server.end('SIGKILL')
  }
}

describeProcesses('souk rotate-keys', () => {
  test('after souk rotate-keys, a running server reads old secrets and seals new ones with the new key', async () => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    const { token, privateKey } = await signUp(server)
    const before = keysIn(dataDir)

    const rotated = await souk(['rotate-keys'], dataDir)
    expect(rotated).toMatchObject({ status: 0, stderr: '' })
    const after = keysIn(dataDir)
    expect(after).toEqual({
      jwt: [expect.any(String), ...before.jwt],
      encryption: [expect.any(String), ...before.encryption],
      integrationApiKey: before.integrationApiKey,
      registered: true,
    })
    expect(statSync(join(dataDir, 'keys.json')).mode & 0o777).toBe(0o600)
    for (const secret of [...after.encryption, ...after.jwt]) expect(rotated.stdout).not.toContain(secret)

    expect(await privateKeyOf(server, token)).toBe(privateKey)
    expect(await privateKeyOf(server, await logIn(server))).toBe(privateKey)
    expect((await server.call('POST', '/shops/v2/private-key/rotate', { token, body: { graceSeconds: 60 } })).status).toBe(200)
    expect([...versionsOfSeals(dataDir).keys()]).toEqual([versionOf(after.encryption[0])])
    expect(registered(dataDir)).toEqual([
      { version: versionOf(before.encryption[0]), retired: 1 },
      { version: versionOf(after.encryption[0]), retired: 0 },
    ])
    expect(await souk(['check'], dataDir)).toMatchObject({ status: 0, stderr: '' })
    expect(server.log.text()).not.toContain('"level":"error"')
  })

  test('when souk rotate-keys is killed, every secret still opens, and the next run completes with the same key', async () => {
    const { dataDir, privateKey, token, old, ...running } = await killRotation()
    await using server = running.server
    const halfWay = versionsOfSeals(dataDir)
    expect([...halfWay.keys()].toSorted()).toEqual(keysIn(dataDir).encryption.map(versionOf).toSorted())
    expect(halfWay.get(versionOf(old))?.length).toBeGreaterThan(0)
    expect(registered(dataDir).map(({ retired }) => retired)).toEqual([0, 0])
    expect(await privateKeyOf(server, token)).toBe(privateKey)
    expect(await souk(['check'], dataDir)).toMatchObject({ status: 0, stderr: '' })

    const secondRun = await souk(['rotate-keys'], dataDir)
    expect(secondRun).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('This completed an earlier, interrupted rotation'),
    })
    const { encryption } = keysIn(dataDir)
    expect(encryption).toHaveLength(2)
    expect([...versionsOfSeals(dataDir).keys()]).toEqual([versionOf(encryption[0])])
    expect(registered(dataDir).map(({ retired }) => retired)).toEqual([1, 0])
    expect(await privateKeyOf(server, token)).toBe(privateKey)
  })

  test('of two concurrent souk rotate-keys, one succeeds, one is refused, and no key is lost', async () => {
    const { dataDir } = await servedOnce()
    const rotations = await Promise.all([souk(['rotate-keys'], dataDir), souk(['rotate-keys'], dataDir)])
    expect(rotations.map(({ status }) => status).toSorted()).toEqual([0, 1])
    expect(rotations.find(({ status }) => status === 1)?.stderr).toBe('Another rotate-keys is running. Wait for it to finish\n')
    expect(keysIn(dataDir).encryption).toHaveLength(2)
    expect(await souk(['check'], dataDir)).toMatchObject({ status: 0, stderr: '' })
  })

  test('with keys in the settings, souk rotate-keys seals with the first, and the old one is then not needed', async () => {
    const dataDir = temporaryDir()
    const settings = (encryptionKey: string) => ({
      JWT_SECRET: 'j'.repeat(32),
      INTEGRATION_API_KEY: 'i'.repeat(16),
      ENCRYPTION_KEY: encryptionKey,
    })
    const first = await serve(dataDir, settings(oldSecret))
    const { privateKey } = await signUp(first)
    await first.end('SIGTERM')

    const alone = await souk(['rotate-keys'], dataDir, { settings: settings(oldSecret) })
    expect(alone).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('set ENCRYPTION_KEY=new,old') })
    const tooEarly = await souk(['check'], dataDir, { settings: settings(newSecret) })
    expect(tooEarly).toMatchObject({ status: 1, stderr: expect.stringContaining(`Encryption key ${versionOf(oldSecret)} is missing`) })

    await using server = await serve(dataDir, settings(`${newSecret},${oldSecret}`))
    const rotated = await souk(['rotate-keys'], dataDir, { settings: settings(`${newSecret},${oldSecret}`) })
    expect(rotated).toMatchObject({ status: 0, stderr: '' })
    expect(await privateKeyOf(server, await logIn(server))).toBe(privateKey)
    await server.end('SIGTERM')
    expect(await souk(['check'], dataDir, { settings: settings(newSecret) })).toMatchObject({ status: 0, stderr: '' })
    await using last = await serve(dataDir, settings(newSecret))
    expect(await privateKeyOf(last, await logIn(last))).toBe(privateKey)
  })

  test('souk rotate-keys creates no database where there is none', async () => {
    const dataDir = temporaryDir()
    expect(await souk(['rotate-keys'], dataDir)).toEqual({
      status: 1,
      stdout: '',
      stderr: `No database in ${dataDir}: there is no key to rotate\n`,
    })
  })
})
