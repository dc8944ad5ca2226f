CREATE TABLE `customer_tags` (
	`customer_id` text NOT NULL,
	`tag` text NOT NULL,
	`shop_id` text NOT NULL,
	PRIMARY KEY(`customer_id`, `tag`),
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `customer_tags_list` ON `customer_tags` (`shop_id`,`tag`,`customer_id`);--> statement-breakpoint
CREATE TABLE `order_tags` (
	`order_id` text NOT NULL,
	`tag` text NOT NULL,
	`shop_id` text NOT NULL,
	`number` integer NOT NULL,
	PRIMARY KEY(`order_id`, `tag`),
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_tags_list` ON `order_tags` (`shop_id`,`tag`,`number`);--> statement-breakpoint
ALTER TABLE `customers` ADD `note` text;--> statement-breakpoint
ALTER TABLE `customers` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `customers` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `version` integer DEFAULT 1 NOT NULL;