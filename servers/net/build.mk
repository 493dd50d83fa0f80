# The network server: our files with -Wall -Werror, lwIP's files without warnings.
# third_party/lwip.mk unpacks lwIP. It is read after this file, so the path is repeated here.
NET_LWIP_SRC := $(B)/third_party/lwip
NET_SOURCES := $(wildcard servers/net/*.c)
NET_LWIP := $(addprefix $(NET_LWIP_SRC)/src/, \
    $(addprefix core/,init.c def.c inet_chksum.c ip.c mem.c memp.c netif.c pbuf.c raw.c stats.c tcp.c tcp_in.c \
                      tcp_out.c timeouts.c udp.c) \
    $(addprefix core/ipv4/,acd.c dhcp.c etharp.c icmp.c ip4.c ip4_addr.c ip4_frag.c) \
    netif/ethernet.c)
NET_INCLUDES := -Iservers/net/lwip -isystem $(NET_LWIP_SRC)/src/include

$(NET_LWIP): $(NET_LWIP_SRC)/.unpacked ;
$(foreach f,$(NET_SOURCES),$(eval CFLAGS_$f := $(NET_INCLUDES)))
$(foreach f,$(NET_LWIP),$(eval CFLAGS_$f := $(NET_INCLUDES) -w))
$(foreach to,user explore/user,$(call objects,$(BA)/$(to)/obj,$(NET_SOURCES))): | $(NET_LWIP_SRC)/.unpacked
# GCC's dependency files omit what system headers include.
$(foreach to,user explore/user,$(call objects,$(BA)/$(to)/obj,$(NET_SOURCES) $(NET_LWIP))): servers/net/lwip/lwipopts.h servers/net/lwip/arch/cc.h

$(eval $(call server_program,net,$(NET_SOURCES) $(NET_LWIP),$(BA)/lib/libvirtio.a))
