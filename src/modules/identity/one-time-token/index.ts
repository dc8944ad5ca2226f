export { deleteExpiredTokens, findToken, invalidateTokens, isSentTo, issueToken, type NewToken, spendToken } from './service.ts'
