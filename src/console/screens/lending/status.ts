import { stateName } from '../../lib/words/common.ts'
import { w } from './words.ts'

/** A state of an application in words. */
export const statusText = (status: string): string => (status === 'UNDER_REVIEW' ? w('UNDER_REVIEW') : stateName(status))
