import { t } from './i18n.ts'

/** Returns the label of an account's field. */
export const fieldName = (name: string): string => t.find(`field.${name}`) ?? name
