ALTER TABLE `carts` ADD `accepts_marketing` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `carts` ADD `reminded_at` integer;--> statement-breakpoint
ALTER TABLE `carts` ADD `restored_at` integer;--> statement-breakpoint
CREATE INDEX `carts_abandoned` ON `carts` (`shop_id`,`updated_at`) WHERE status = 'OPEN' and email is not null and draft is null;--> statement-breakpoint
CREATE INDEX `carts_restored` ON `carts` (`shop_id`,`restored_at`) WHERE restored_at is not null;--> statement-breakpoint
ALTER TABLE `orders` ADD `from_abandoned_cart` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `shop_mail` ADD `abandoned_cart_mail` text;