import { expect, test } from 'bun:test'
import { UcpError } from '../../../../src/lib/ucp/errors.ts'
import { namedProfile } from '../../../../src/modules/agents/platform/domain.ts'

const url = 'https://agent.example/profile'
const codeOf = (run: () => unknown) => {
  try {
    return run()
  } catch (error) {
    return error instanceof UcpError ? error.code : error
  }
}

test('reads the profile of UCP-Agent as a dictionary', () => {
  expect(namedProfile(`profile="${url}"`, undefined)).toBe(url)
  expect(namedProfile(`a=1, profile="${url}";version="2026-08-25", b`, undefined)).toBe(url)
  expect(namedProfile(null, url)).toBe(url)
  expect(namedProfile(`profile="${url}"`, url)).toBe(url)
  expect(namedProfile(null, undefined)).toBeUndefined()
})

test.each([
  'a=1',
  `profile=${url}`,
  `profile="${url}`,
  'profile=("https://agent.example/")',
  'profile=1',
  'profile=""',
  'profile="agent.example"',
  'profile="file:///etc/passwd"',
  'profile="ftp://agent.example/"',
  'profile="https://user@agent.example/"',
  'profile="https://user:password@agent.example/"',
  '',
])('refuses the header %p', (header) => {
  expect(codeOf(() => namedProfile(header, undefined))).toBe('invalid_profile_url')
})

test('refuses a URL that is too long', () => {
  expect(codeOf(() => namedProfile(`profile="${url}${'a'.repeat(2_048)}"`, undefined))).toBe('invalid_profile_url')
})

test('refuses a profile in meta that is not a URL, or differs from the header', () => {
  for (const inMeta of [null, 1, '', {}, [url], 'file:///etc/passwd'])
    expect(codeOf(() => namedProfile(null, inMeta))).toBe('invalid_profile_url')
  expect(codeOf(() => namedProfile(`profile="${url}"`, `${url}/`))).toBe('invalid_profile_url')
  expect(codeOf(() => namedProfile('a=1', url))).toBe('invalid_profile_url')
})

test('refuses a parameter that names another release', () => {
  for (const version of ['"2099-01-01"', '"2026-01-11"', '2026', '?1'])
    expect(codeOf(() => namedProfile(`profile="${url}";version=${version}`, undefined))).toBe('version_unsupported')
  expect(namedProfile(`profile="${url}"; version="2026-04-08"`, undefined)).toBe(url)
})
