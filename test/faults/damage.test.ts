/** Tests that a failing disk or a damaged file ends the process, so that it does not respond 500 forever. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { closeSync, openSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describeProcesses, type Server, serve, servedOnce, souk, withFile } from '../cli/souk.ts'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Overwrites the first page of a table, or of an index, as a disk might. */
function damage(database: string, name: string): void {
  const { page, size } = withFile(database, (file) => ({
    page: file.query<{ rootpage: number }, [string]>('SELECT rootpage FROM sqlite_master WHERE name = ?').get(name)?.rootpage ?? 0,
    size: file.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0,
  }))
  const descriptor = openSync(database, 'r+')
  writeSync(descriptor, Buffer.alloc(size, 0xee), 0, size, (page - 1) * size)
  closeSync(descriptor)
}

async function expectEnd(server: Server, event: string): Promise<void> {
  expect(await server.exited).toBe(74)
  await server.log.ended
  expect(server.log.text()).toContain(`"event":"${event}"`)
}

/** Sends a request and ignores its failure, because the connection may break with the process. */
const ask = (server: Server, path: string) => fetch(`${server.url}${path}`).catch(() => undefined)

/** Compiles a library that lets reads of the database fail while a file exists. Returns undefined if it cannot. */
function compileFailingReads(): { library: string; trigger: string } | undefined {
  const dir = temporaryDir()
  const [source, library, trigger] = [join(dir, 'eio.c'), join(dir, 'eio.so'), join(dir, 'fail')]
  writeFileSync(
    source,
    `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int fails(int fd) {
  char link[64], path[4096];
  if (access("${trigger}", F_OK) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "souk.db") != NULL;
}
#define FAILING(name, type) ssize_t name(int fd, void *to, size_t n, type at) { \\
  static ssize_t (*real)(int, void *, size_t, type); \\
  if (!real) real = dlsym(RTLD_NEXT, #name); \\
  if (fails(fd)) { errno = EIO; return -1; } \\
  return real(fd, to, n, at); }
FAILING(pread, off_t)
FAILING(pread64, off64_t)
ssize_t read(int fd, void *to, size_t n) {
  static ssize_t (*real)(int, void *, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "read");
  if (fails(fd)) { errno = EIO; return -1; }
  return real(fd, to, n);
}
`,
  )
  try {
    return Bun.spawnSync(['cc', '-shared', '-fPIC', '-o', library, source, '-ldl']).exitCode === 0 ? { library, trigger } : undefined
  } catch {
    return undefined
  }
}

const shim = compileFailingReads()
if (!shim) process.stdout.write('skipped: a read that fails cannot be tried, because there is no C compiler to make one fail\n')

describeProcesses('damage of the disk or the file', () => {
  test('a damaged page met by a read ends the process with status 74', async () => {
    const { dataDir, database } = await servedOnce()
    damage(database, 'shops')
    await using server = await serve(dataDir)
    await ask(server, '/shops/v2/public/name/a-shop')
    await expectEnd(server, 'database.damaged')
    expect((await souk(['check'], dataDir)).stderr).toContain('FAIL  database file')
  })

  test('a page damaged under a running server ends the process when a write reads it', async () => {
    const { dataDir, database } = await servedOnce()
    await using server = await serve(dataDir)
    // After a commit of another process every connection rereads the file.
    withFile(database, (file) => {
      file.run('UPDATE souk_migrations SET applied_at = applied_at + 1')
      file.run('PRAGMA wal_checkpoint(TRUNCATE)')
    })
    damage(database, 'attempts')
    await server.call('POST', '/merchant/login', { body: { email: 'a@example.com', password: 'of nobody at all' } }).catch(() => undefined)
    await expectEnd(server, 'database.damaged')
  })

  test('a file with a damaged beginning is refused at the start and named', async () => {
    const { dataDir, database } = await servedOnce()
    const descriptor = openSync(database, 'r+')
    writeSync(descriptor, Buffer.alloc(100, 0xee), 0, 100, 0)
    closeSync(descriptor)
    const { status, stderr } = await souk(['serve'], dataDir)
    expect(status).toBe(1)
    expect(stderr).toContain(`${database}: the file is not a database`)
    expect(stderr.trim().split('\n').length).toBe(1)
  })

  test('a truncated file is refused at the start and named', async () => {
    const { dataDir, database } = await servedOnce()
    truncateSync(database, statSync(database).size - 4_096)
    const { status, stderr } = await souk(['serve'], dataDir)
    expect([status, stderr]).toEqual([1, expect.stringContaining(`The file is damaged, or not a database: ${database}`)])
  })

  test.skipIf(!shim)('a read error of the disk ends the process with status 74', async () => {
    const { library = '', trigger = '' } = shim ?? {}
    const { dataDir, database } = await servedOnce()
    await using server = await serve(dataDir, { LD_PRELOAD: library })
    expect((await server.call('GET', '/health/ready')).status).toBe(200)
    withFile(database, (file) => file.run('UPDATE souk_migrations SET applied_at = applied_at + 1'))
    writeFileSync(trigger, '')
    await ask(server, '/shops/v2/public/name/a-shop')
    // SQLite reports EIO as a file that ends too early.
    await expectEnd(server, 'database.damaged')
  })
})
