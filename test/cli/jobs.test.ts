import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { testDatabase } from '../support/database.ts'
import { describeProcesses, souk } from './souk.ts'

describeProcesses('souk jobs', () => {
  test('souk jobs prints the last run of every job, and exits 1 if one failed', async () => {
    const database = await testDatabase()
    const app = await testApp({}, { database })
    const { jobRunner } = app.deps
    await jobRunner.start([
      { name: 'forget', perform: async () => ({ result: 'FAILED', error: new Error('it could not') }) },
      { name: 'expire-carts', perform: async () => ({ result: 'OK' }) },
    ])
    await jobRunner.runScheduled('forget')
    await jobRunner.runScheduled('expire-carts')
    await jobRunner.stop()
    await app.close()
    const withKeys = await souk(['jobs'], database.dataDir, {
      settings: {
        JWT_SECRET: 'test-only-jwt-secret-0123456789abcdef',
        ENCRYPTION_KEY: 'test-only-encryption-key-0123456789ab',
        INTEGRATION_API_KEY: 'test-only-integration-key',
      },
    })
    expect([withKeys.status, withKeys.stderr]).toEqual([1, ''])
    expect(withKeys.stdout).toMatch(/^JOB +STATE +LAST RUN/)
    expect(withKeys.stdout).toMatch(/^fold-listings +idle +never +\d{4}-/m)
    expect(withKeys.stdout).toMatch(/^expire-carts +idle +2026-01-06T12:00:00\.000Z +OK +0 ms +\d{4}-/m)
    expect(withKeys.stdout).toContain('\nforget: Error: it could not\n')
    // The command also works when the keys are missing.
    const withoutKeys = await souk(['jobs'], database.dataDir)
    const untimed = ({ stdout }: { stdout: string }) => stdout.replaceAll(/ +20\d\d-\S+Z$/gm, '')
    expect([withoutKeys.status, withoutKeys.stderr, untimed(withoutKeys)]).toEqual([1, '', untimed(withKeys)])
    await database.drop()
  })
})
