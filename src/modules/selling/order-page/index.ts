export { creditNotes, idsOf, invoices, packingSlips } from './documents.ts'
export { orderByLink, orderPage, receiptPage, requestReturnByForm, requestReturnByLink } from './service.ts'
