export { endTokens, forgetTokens, issueToken, lookAtToken, type NewToken, spendToken, wasSentTo } from './service.ts'
