DROP INDEX `orders_shop`;--> statement-breakpoint
DROP INDEX `orders_status`;--> statement-breakpoint
CREATE INDEX `orders_created` ON `orders` (`shop_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `orders_status_number` ON `orders` (`shop_id`,`status`,`number`);--> statement-breakpoint
CREATE INDEX `orders_email` ON `orders` (`shop_id`,lower("email"));--> statement-breakpoint
ALTER TABLE `refunds` ADD `lines` text DEFAULT '[]' NOT NULL;