/** Whether an account's money is real: by its key where that says so, else by its host. */
export function modeOf(apiUrl: string, key = ''): 'TEST' | 'LIVE' {
  if (/_(test|sbox)_/.test(key)) return 'TEST'
  if (/_live_/.test(key)) return 'LIVE'
  const host = URL.parse(apiUrl)?.hostname ?? ''
  return /(^|[.-])sandbox([.-]|$)/.test(host) || /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(host) ? 'TEST' : 'LIVE'
}
