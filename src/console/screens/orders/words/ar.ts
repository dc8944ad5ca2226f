import type { Translation } from '../../../lib/words.ts'
import type en from './en.ts'

export default {
  title: 'الطلبات',
  search: 'الرقم أو الاسم أو البريد أو العنوان أو المنتج',
  payment: 'الدفع',
  number: 'الطلب',
  customer: 'العميل',
  guest: 'ضيف',
  total: 'المجموع',
  placed: 'وقت الطلب',
  sending: 'الإرسال',
  none: 'لا طلبات بعد',
  noneText: 'حين يشتري أحد شيئًا يظهر هنا فورًا.',
} satisfies Translation<typeof en>
