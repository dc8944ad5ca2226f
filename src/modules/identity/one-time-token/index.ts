export { deleteExpiredTokens, findToken, invalidateTokens, isSentTo, issueToken, spendToken } from './service.ts'
