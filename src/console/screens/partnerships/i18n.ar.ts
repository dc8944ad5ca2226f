import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'المتاجر التي أحالها شريك، ومعالج البطاقات الذي تبدأ به',
  none: 'لا توجد شراكات بعد. تحدد الشراكة معالج البطاقات الافتراضي لمجموعة من المتاجر.',
  nr: 'الشراكة {n}',
  processor: 'معالج البطاقات',
  add: 'إضافة شراكة',
  twice: 'لا يمكن أن ينتمي المتجر إلا إلى شراكة واحدة: {names}',
} satisfies Translation<typeof en>
