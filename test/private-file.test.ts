import { expect, test } from 'bun:test'
import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from '../src/keys.ts'
import { temporaryDir } from './support/database.ts'

test('writing a private file does not follow a symbolic link, and only its owner can read it', () => {
  const dir = temporaryDir()
  const theirs = join(dir, 'theirs')
  writeFileSync(theirs, 'theirs', { mode: 0o666 })
  symlinkSync(theirs, join(dir, `keys.json.${process.pid}.tmp`))
  writePrivateFile(join(dir, 'keys.json'), 'ours')
  expect(readFileSync(theirs, 'utf8')).toBe('theirs')
  expect(readFileSync(join(dir, 'keys.json'), 'utf8')).toBe('ours')
  const stat = lstatSync(join(dir, 'keys.json'))
  expect(stat.isFile()).toBe(true)
  expect(stat.mode & 0o777).toBe(0o600)
})

test('a private file that cannot be renamed into place leaves no temporary file', () => {
  const dir = temporaryDir()
  const write = () =>
    writePrivateFile(join(dir, 'keys.json'), 'ours', () => {
      throw new Error('no')
    })
  expect(write).toThrow('no')
  expect(readdirSync(dir)).toEqual([])
})
