import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'سلات فيها بريد إلكتروني ولم تتغير منذ ساعة',
  none: 'لا سلات متروكة',
  noneText: 'تظهر السلات هنا بعد أن يُدخل المتسوق بريده الإلكتروني.',
  changed: 'آخر تغيير',
  items: 'العناصر',
  mail: 'رسالة السلة',
  mailed: 'أُرسلت',
  notMailed: 'لم تُرسل',
  noConsent: 'دون موافقة',
  recovered: 'مستعادة',
  open: 'لم تُطلب',
  order: 'الطلب {number}',
  setting: 'إعدادات البريد',
} satisfies Translation<typeof en>
